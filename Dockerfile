# The bot alone; the QQ client runs beside it (compose.yaml) and connects to port 8080. How to run it: docs/部署.md
FROM python:3.11-slim-bookworm

WORKDIR /app
COPY requirements.lock ./
RUN pip install --no-cache-dir --require-hashes -r requirements.lock \
    && useradd --create-home --uid 1000 bot \
    && install -d -o bot -g bot /app/data /app/data/backups

COPY pyproject.toml bot.py LICENSE ./
COPY rating_core ./rating_core
COPY migrations ./migrations
COPY plugins ./plugins

ENV PYTHONUNBUFFERED=1 \
    PYTHONDONTWRITEBYTECODE=1 \
    HOST=0.0.0.0 \
    PORT=8080
USER bot
VOLUME /app/data
EXPOSE 8080
# 503 while the ledger is damaged, the database takes nothing or QQ is away; docs/部署.md says what else it tells
HEALTHCHECK --interval=30s --timeout=5s --start-period=60s --retries=3 \
    CMD ["python", "-c", "import os, urllib.request; urllib.request.build_opener(urllib.request.ProxyHandler({})).open(f\"http://127.0.0.1:{os.environ['PORT']}/health\", timeout=4)"]
CMD ["python", "bot.py"]
