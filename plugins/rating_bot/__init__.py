"""The rating bot's NoneBot plugin: the only code that knows QQ."""
