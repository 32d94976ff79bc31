"""What clients answer to a send that failed, word for word, and what it means."""

import pytest
from nonebot.adapters.onebot.v11 import ActionFailed, ApiNotAvailable, NetworkError

from plugins.rating_bot.wire.failures import failure_of

EVENT = "NTEvent serviceAndMethod:NodeIKernelMsgService/sendMsg ListenerName:NodeIKernelMsgListener/onMsgInfoListUpdate"


@pytest.mark.parametrize(
    ("retcode", "message", "kind"),
    [
        (1200, f'Timeout: {EVENT} EventRet:\n{{\n    "result": 0,\n    "errMsg": ""\n}}\n', "unclear"),
        (200, f"Timeout: {EVENT} EventRet:\n{{}}\n", "unclear"),
        (1200, "invoke timeout, nodeIKernelMsgService/sendMsg, ...", "unclear"),
        (1200, "发送消息失败", "unclear"),
        (1200, "", "unclear"),
        (9000, "failed", "unclear"),
        (
            1200,
            f'EventChecker Failed: {EVENT} EventRet:\n{{"result": 110, "errMsg": "你已被移出该群，请重新加群。"}}',
            "kicked",
        ),
        (1200, f'EventChecker Failed: {EVENT} EventRet:\n{{\n    "result": 120,\n    "errMsg": ""\n}}\n', "muted"),
        (1200, f'EventChecker Failed: {EVENT} EventRet:\n{{"result": 7, "errMsg": "你已被禁言"}}', "muted"),
        (1200, f'EventChecker Failed: {EVENT} EventRet:\n{{"result": 7, "errMsg": ""}}', "refused"),
        (110, "failed", "kicked"),
        (120, "failed", "muted"),
        (299, "failed", "risk"),
        (100, "GROUP_NOT_FOUND 群聊不存在", "kicked"),
        (100, "SEND_MSG_API_ERROR 请参考 go-cqhttp 端输出", "risk"),
        (
            1200,
            f'EventChecker Failed: {EVENT} EventRet:\n{{"result": -1, "errMsg": "rich media transfer failed"}}',
            "refused",
        ),
        (1200, "rich media transfer failed", "refused"),
        (1200, "Get Uid Error", "refused"),
        (1200, "At成员不存在", "refused"),
        (1200, "回复的消息不存在", "refused"),
        (1200, "消息体无法解析, 请检查是否发送了不支持的消息类型", "refused"),
        (1400, "schema: group_id", "refused"),
        (100, "EMPTY_MSG_ERROR 消息为空", "refused"),
        (404, "failed", "refused"),
    ],
)
def test_answers(retcode: int, message: str, kind: str) -> None:
    failure = failure_of(ActionFailed(status="failed", retcode=retcode, message=message, wording=message))
    assert failure.kind == kind
    assert failure.text == f"{retcode} {message.strip()}".strip()


def test_no_answer_means_nothing_is_known() -> None:
    assert failure_of(NetworkError("no answer within 30 s")).kind == "unclear"
    assert failure_of(RuntimeError("socket gone")).kind == "unclear"


def test_not_connected_means_nothing_was_sent() -> None:
    assert failure_of(ApiNotAvailable()).kind == "offline"
