"""/报名, /认领 for everybody; /通过, /驳回, /新棋手, /绑定, /解绑, /改名, /核验 for the desk; /任命, /免去."""

from nonebot.exception import AdapterException
from nonebot.log import logger

from plugins.rating_bot.handlers import erasing
from plugins.rating_bot.handlers.context import Context
from plugins.rating_bot.handlers.grammar import (
    Person,
    account,
    choice,
    new_name,
    numbers,
    person,
    placing,
    text,
)
from plugins.rating_bot.handlers.previews import applies
from plugins.rating_bot.handlers.refusals import bound
from plugins.rating_bot.handlers.table import TABLE, Role, command
from plugins.rating_bot.runtime import Runtime
from plugins.rating_bot.wire.messages import Inbound, Out
from plugins.rating_bot.wording import people as wording
from plugins.rating_bot.wording.common import fit
from rating_core.directory import ROLE_TITLES
from rating_core.report_text import WORDS, WRONG_WORDS
from rating_core.rulebook import ORDINARY_PLACING
from rating_core.service import people as service
from rating_core.service.people import Member
from rating_core.service.refusal import Refusal
from rating_core.store.desk_store import Preview
from rating_core.store.people_store import ERASING, Application
from rating_core.words import RESERVED_WORDS

ROLES = {title: role for role, title in ROLE_TITLES.items()}


def reserved() -> frozenset[str]:
    """Return the words that no name may be: command words, answers and result words."""
    return frozenset(TABLE.commands) | RESERVED_WORDS | frozenset(WORDS) | frozenset(WRONG_WORDS)


@command(
    "报名", form="/报名 名字 [名次]", help="申请上榜；名次是近几年重大比赛的最好名次，没有就不写",
    example="/报名 张三 16强", slots=(new_name("name"), placing("placing")),
)  # fmt: skip
async def apply(context: Context, name: str, placing: str | None) -> list[Out]:
    application = await service.apply_for_name(
        context.tx, context.actor, name, placing or ORDINARY_PLACING, context.place, reserved()
    )
    return _applied(context, application)


@command(
    "认领", form="/认领 名字", help="把自己的QQ绑定到榜上已有的名字", example="/认领 张三",
    slots=(person("who"),), where="group",
)  # fmt: skip
async def claim(context: Context, who: Person) -> list[Out]:
    return _applied(context, await service.claim(context.tx, context.actor, bound(who), context.place))


def _applied(context: Context, application: Application) -> list[Out]:
    context.about = f"审{application.application_id}"
    outs = [context.answer(wording.applied(application), about=context.about)]
    bound = len(context.directory.qqs_of(application.player_id)) if application.player_id is not None else 0
    notice = wording.application_notice(application, context.message.user, context.message.card, bound)
    others = [chat for chat in context.scoring_chats if chat != context.message.chat]
    return outs + [Out(chat, notice, "notice", context.about) for chat in others]


@command(
    "通过", form="/通过 审号…", help="通过报名或认领，可以一次多个", example="/通过 审3 4 5",
    slots=(numbers("targets", "审"),), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def approve(context: Context, targets: list[int]) -> list[Out]:
    return await _decide(context, targets, "approved", "")


@command(
    "驳回", form="/驳回 审号… [理由]", help="驳回报名或认领", example="/驳回 审3 名字和榜上的太像",
    slots=(numbers("targets", "审"), text("reason", optional=True)), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def refuse(context: Context, targets: list[int], reason: str) -> list[Out]:
    return await _decide(context, targets, "refused", reason)


async def _decide(context: Context, targets: list[int], outcome: service.Outcome, reason: str) -> list[Out]:
    lines: list[str] = []
    outs: list[Out] = []
    for target in await erasing.first(context, targets):
        try:
            application = await service.waiting_application(context.tx, target)
            if application.kind in ERASING and outcome == "approved":
                line, told_others = await erasing.carry_out(context, target)
                lines.append(line)
                outs += told_others
                continue
            await service.decide(context.tx, context.actor, target, outcome, reason, context.at, reserved())
        except Refusal as refusal:
            lines.append(f"审{target}：{wording.refusal(refusal)}")
            continue
        lines.append(wording.decided(application, outcome))
        applicant = context.directory.by_id[application.account_id]
        told = wording.decision_for_applicant(application, outcome, reason, applicant.qq or "")
        if application.chat != context.message.chat:
            outs.append(Out(application.chat, told, "notice", f"审{target}", application.message_id))
    context.about = f"审{targets[0]}"
    return [context.answer(fit(lines, "……还有{count}件，见 /日志"), about=context.about), *outs]


@command(
    "新棋手", form="/新棋手 名字 QQ [名次]", help="直接登记一位新棋手并绑定QQ", example="/新棋手 张三 12345678 亚军",
    slots=(new_name("name"), account("qq"), placing("placing")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def add_player(context: Context, name: str, qq: str, placing: str | None) -> str:
    level = placing or ORDINARY_PLACING
    player = await service.add_player(context.tx, context.actor, name, qq, level, context.at, reserved())
    return wording.player_added(context.directory.name_of(player), level)


async def _members(runtime: Runtime, message: Inbound) -> list[Member] | None:
    """Ask QQ for the members of this official group, or of all of them when asked in a scoring group."""
    official = runtime.settings.official_groups
    groups = [message.group] if message.group in official else list(official)
    members: dict[str, Member] = {}
    try:
        for group in groups:
            members |= {member.qq: member for member in await runtime.members(str(group))}
    except AdapterException as error:
        logger.warning(f"no member list: {error!r}")
        return None
    members.pop(message.self_id, None)
    return list(members.values())


@command(
    "绑定 预览", aliases=("绑定预览",), form="/绑定 预览", help="按群名片把榜上名字和QQ对上号，先看后绑",
    example="/绑定 预览", role=Role.SCOREKEEPER, where="group", prepare=_members,
)  # fmt: skip
async def preview_cards(context: Context) -> list[Out]:
    if context.prepared is None:
        return [context.answer(wording.MEMBERS_UNAVAILABLE)]
    matches = service.match_cards(context.tx, context.prepared, context.at)
    if not matches.exact:
        return [context.answer(wording.card_matches(matches, None, context.directory))]
    preview = await service.preview_cards(context.tx, context.actor, matches, context.place)
    context.about = f"预{preview.preview_id}"
    return [context.answer(wording.card_matches(matches, preview, context.directory), about=context.about)]


@applies(service.BIND_CARDS)
async def apply_cards(context: Context, preview: Preview) -> list[Out]:
    done, left = await service.apply_cards(context.tx, context.actor, preview, context.at)
    return [context.answer(wording.cards_bound(done, left))]


@command(
    "绑定", form="/绑定 名字 QQ或@", help="把QQ绑定到名字；一个QQ只绑一个名字，一个名字可以有几个QQ",
    example="/绑定 张三 12345678", slots=(person("who"), account("qq")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def bind(context: Context, who: Person, qq: str) -> str:
    player = bound(who)
    await service.bind(context.tx, context.actor, player, qq, context.at)
    return wording.bound(context.directory.name_of(player), qq)


@command(
    "解绑", form="/解绑 名字 QQ或@", help="解除名字和QQ的绑定", example="/解绑 张三 12345678",
    slots=(person("who"), account("qq")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def unbind(context: Context, who: Person, qq: str) -> str:
    player = bound(who)
    await service.unbind(context.tx, context.actor, player, qq, context.at)
    return wording.unbound(context.directory.name_of(player), qq)


@command(
    "改名", form="/改名 旧名 新名", help="改名；旧名以后仍然认得", example="/改名 张三 张三丰",
    slots=(person("who"), new_name("name")), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def rename(context: Context, who: Person, name: str) -> str:
    player = bound(who)
    old = context.directory.name_of(player)
    return wording.renamed(old, await service.rename(context.tx, context.actor, player, name, context.at, reserved()))


@command(
    "核验", form="/核验 名字 [撤销]", help="看过IP截图后登记（L11）；撤销则取消", example="/核验 张三",
    slots=(person("who"), choice("undo", ["撤销"], optional=True)), role=Role.SCOREKEEPER, where="group",
)  # fmt: skip
async def check_ip(context: Context, who: Person, undo: str | None) -> str:
    player, message = bound(who), context.message
    seen = f"{message.chat} {message.quote or message.message_id}"
    valid = undo is None
    seq = await service.check_ip(context.tx, context.actor, player, valid=valid, message=seen, said_at=context.at)
    return wording.ip_checked(context.directory.name_of(player), seq, valid=valid)


@command(
    "任命", form="/任命 记分员|裁判 QQ或@", help="任命记分员或裁判", example="/任命 记分员 12345678",
    slots=(choice("role", list(ROLES)), account("qq")), role=Role.SUPERUSER, where="group",
)  # fmt: skip
async def appoint(context: Context, role: str, qq: str) -> str:
    await service.appoint(context.tx, context.actor, ROLES[role], qq, context.at)
    return wording.appointed(role, qq)


@command(
    "免去", form="/免去 记分员|裁判 QQ或@", help="免去记分员或裁判", example="/免去 裁判 12345678",
    slots=(choice("role", list(ROLES)), account("qq")), role=Role.SUPERUSER, where="group",
)  # fmt: skip
async def dismiss(context: Context, role: str, qq: str) -> str:
    await service.dismiss(context.tx, context.actor, ROLES[role], qq, context.at)
    return wording.dismissed(role, qq)
