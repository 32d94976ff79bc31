"""People: registering, claiming, binding, renaming, roles and the IP check (§3, §5; L3, L4, L11)."""

import json
from collections.abc import Container
from dataclasses import dataclass
from typing import Literal

from rating_core.directory import DISMISSED, ROLE_TITLES, SCOREKEEPER, Account, Actor
from rating_core.ledger import Draft, IpChecked, PlayerRegistered
from rating_core.names import check_new_name, normalize_name, skeleton
from rating_core.rulebook import IP_CHECK_RATING, MASKED_NAME, PLACINGS
from rating_core.service.own_case import check_own_case
from rating_core.service.refusal import Refusal
from rating_core.service.transaction import Tx
from rating_core.store.desk_store import Preview
from rating_core.store.people_store import ERASING, MASKED, Application
from rating_core.times import DAY_MS, day_of

RECENT_DAYS = 30
"""Group cards of members who joined within so many days are not bound from a preview."""
PREVIEW_MINUTES = 10
BIND_CARDS = "bind_cards"
"""Kind of the preview that /绑定 预览 makes."""


@dataclass(frozen=True, slots=True)
class Place:
    """Where something was asked, so that the answer can be sent there later."""

    chat: str
    message_id: str
    said_at: int


Outcome = Literal["approved", "refused"]


def check_name(tx: Tx, name: str, reserved: Container[str], *, but: int | None = None) -> str:
    """Return the normalised name if a player may have it. Raises Refusal."""
    name = normalize_name(name)
    if skeleton(name) == skeleton(MASKED_NAME):
        raise Refusal("name_masked", name=name)
    if (problem := check_new_name(name, reserved)) is not None:
        raise Refusal("bad_name", name=name, problem=problem)
    owner = tx.directory.roster.resolve(name)
    if owner is not None and owner != but:
        raise Refusal("name_taken", name=name)
    if (alike := tx.directory.roster.confusable_with(name, but)) is not None:
        raise Refusal("name_confusable", name=name, alike=alike)
    return name


async def register(tx: Tx, actor: Actor, name: str, placing: str, said_at: int) -> int:
    """Enter a new player without a QQ; the name has been checked. Return his number."""
    player = await tx.counters.take("player")
    await tx.append(Draft(PlayerRegistered(player, PLACINGS[placing], placing), said_at, actor.account_id))
    await tx.name_player(player, name)
    return player


async def apply_for_name(
    tx: Tx, actor: Actor, name: str, placing: str, place: Place, reserved: Container[str]
) -> Application:
    """/报名: ask for a new name; a scorekeeper approves (§3). Raises Refusal."""
    name = check_name(tx, name, reserved)
    return await _apply(tx, actor, "register", name, None, placing, place)


async def claim(tx: Tx, actor: Actor, player: int, place: Place) -> Application:
    """/认领: ask the scorekeepers to bind this QQ to an existing name. Raises Refusal."""
    _refuse_masked(tx, player)
    return await _apply(tx, actor, "claim", tx.directory.name_of(player), player, "", place)


async def _apply(
    tx: Tx, actor: Actor, kind: str, name: str, player: int | None, placing: str, place: Place
) -> Application:
    if actor.player_id is not None:
        raise Refusal("already_bound", name=tx.directory.name_of(actor.player_id))
    actor = await tx.known(actor)
    for waiting in await tx.people.waiting_applications():
        if waiting.kind == MASKED or waiting.kind in ERASING:
            continue  # the former is told to nobody
        if waiting.account_id == actor.account_id:
            raise Refusal("already_applied", number=waiting.application_id, name=waiting.name)
        if kind == "register" == waiting.kind and skeleton(waiting.name) == skeleton(name):
            raise Refusal("name_applied_for", number=waiting.application_id, name=waiting.name)
    application = Application(
        await tx.counters.take("application"), kind, actor.account_id, name, player, placing, place.chat,
        place.message_id, place.said_at,
    )  # fmt: skip
    await tx.people.add_application(application)
    return application


async def waiting_application(tx: Tx, number: int) -> Application:
    """Return 审`number` if it waits. Raises Refusal."""
    application = await tx.people.application(number)
    if application is None:
        raise Refusal("no_application", number=number)
    if application.state != "waiting":
        raise Refusal("application_decided", number=number, state=application.state)
    return application


async def decide(
    tx: Tx, actor: Actor, number: int, outcome: Outcome, reason: str, said_at: int, reserved: Container[str]
) -> Application:
    """/通过 and /驳回: decide one application. A scorekeeper does not decide his own. Raises Refusal.

    What asks for somebody to be forgotten is approved by `erasing.erase`.
    """
    application = await waiting_application(tx, number)
    assert outcome == "refused" or application.kind not in ERASING
    if application.kind == MASKED and (outcome == "approved" or not actor.superuser):
        raise Refusal("masked_by_superuser", number=number)
    if application.account_id == actor.account_id and not actor.superuser and outcome == "approved":
        raise Refusal("own_case")
    actor = await tx.known(actor)
    account = tx.directory.by_id[application.account_id]
    if outcome == "approved":
        if account.player_id is not None:
            raise Refusal("qq_bound", qq=account.qq, name=tx.directory.name_of(account.player_id))
        if application.kind == "register":
            name = check_name(tx, application.name, reserved)
            player = await register(tx, actor, name, application.placing, said_at)
        else:
            assert application.player_id is not None
            player = application.player_id
        await tx.bind(account, player, by=actor.account_id)
    await tx.people.decide_application(number, outcome, actor.account_id, said_at, reason)
    word = "通过" if outcome == "approved" else "驳回"
    await tx.journal(
        actor, said_at, word, about=f"审{number}", player=tx.directory.roster.resolve(application.name),
        detail=application.name, reason=reason,
    )  # fmt: skip
    return application


def _refuse_masked(tx: Tx, player: int) -> None:
    """Who holds 蒙面人公用号 is the superusers' matter (§7 D); it keeps its name. Raises Refusal, whoever asks."""
    if player == tx.directory.masked:
        raise Refusal("masked_fixed", name=MASKED_NAME)


async def add_player(
    tx: Tx, actor: Actor, name: str, qq: str, placing: str, said_at: int, reserved: Container[str]
) -> int:
    """/新棋手: a new player with his QQ, at once. Raises Refusal."""
    if qq == actor.qq and not actor.superuser:
        raise Refusal("own_case")
    name = check_name(tx, name, reserved)
    account = await _free_account(tx, qq)
    actor = await tx.known(actor)
    player = await register(tx, actor, name, placing, said_at)
    await tx.bind(account, player, by=actor.account_id)
    await tx.journal(actor, said_at, "新棋手", player=player, detail=f"{name} {placing}")
    return player


async def _free_account(tx: Tx, qq: str) -> Account:
    known = tx.directory.by_qq.get(qq)
    if known is not None and known.player_id is not None:
        raise Refusal("qq_bound", qq=qq, name=tx.directory.name_of(known.player_id))
    return known or await tx.account(qq)


async def bind(tx: Tx, actor: Actor, player: int, qq: str, said_at: int) -> None:
    """/绑定: bind a QQ to a name; a QQ has at most one name, a name may have several QQs. Raises Refusal."""
    _refuse_masked(tx, player)
    if qq == actor.qq and not actor.superuser:
        raise Refusal("own_case")
    account = await _free_account(tx, qq)
    actor = await tx.known(actor)
    await tx.bind(account, player, by=actor.account_id)
    await tx.journal(actor, said_at, "绑定", player=player, detail=f"账号{account.account_id}")


async def unbind(tx: Tx, actor: Actor, player: int, qq: str, said_at: int) -> None:
    """/解绑: take a QQ off a name. Raises Refusal."""
    if qq == actor.qq and not actor.superuser:
        raise Refusal("own_case")
    account = tx.directory.by_qq.get(qq)
    if account is None or account.player_id != player:
        raise Refusal("not_bound_to", qq=qq, name=tx.directory.name_of(player))
    actor = await tx.known(actor)
    await tx.bind(account, None, by=actor.account_id)
    await tx.journal(actor, said_at, "解绑", player=player, detail=f"账号{account.account_id}")


async def rename(tx: Tx, actor: Actor, player: int, new: str, said_at: int, reserved: Container[str]) -> str:
    """/改名: a new name; the old one goes on resolving (§4). Raises Refusal."""
    _refuse_masked(tx, player)
    new = check_name(tx, new, reserved, but=player)
    old = tx.directory.name_of(player)
    if new == old:
        raise Refusal("same_name", name=new)
    actor = await tx.known(actor)
    await tx.name_player(player, new)
    await tx.journal(actor, said_at, "改名", player=player, detail=f"{old} → {new}")
    return new


async def check_ip(tx: Tx, actor: Actor, player: int, *, valid: bool, message: str, said_at: int) -> int:
    """/核验: the IP screenshot was seen (L11), or that is taken back. Return the ledger row. Raises Refusal."""
    _refuse_masked(tx, player)
    check_own_case(tx.directory, actor, {player})
    if (player in tx.trial.state.ip_checked) == valid:
        raise Refusal("ip_already" if valid else "ip_not_checked", name=tx.directory.name_of(player))
    actor = await tx.known(actor)
    row, _ = await tx.append(Draft(IpChecked(player, valid), said_at, actor.account_id))
    detail = f"账{row.seq} {message}".rstrip()
    await tx.journal(actor, said_at, "核验" if valid else "撤销核验", player=player, detail=detail)
    return row.seq


async def appoint(tx: Tx, actor: Actor, role: str, qq: str, said_at: int) -> None:
    """/任命: give a role (superusers only). Raises Refusal."""
    account = await tx.account(qq)
    roles = tx.directory.roles.get(account.account_id, frozenset())
    if role in roles:
        raise Refusal("has_role", who=tx.directory.account_name(account.account_id))
    actor = await tx.known(actor)
    kept = roles - {DISMISSED} if role == SCOREKEEPER else roles
    await tx.set_roles(account.account_id, kept | {role}, by=actor.account_id)
    await tx.journal(
        actor, said_at, f"任命{ROLE_TITLES[role]}", player=account.player_id, detail=f"账号{account.account_id}"
    )


async def dismiss(tx: Tx, actor: Actor, role: str, qq: str, said_at: int) -> None:
    """/免去: take a role away; a group role does not bring it back (superusers only). Raises Refusal."""
    account = tx.directory.by_qq.get(qq)
    roles = tx.directory.roles.get(account.account_id, frozenset()) if account else frozenset()
    if role not in roles and (role != SCOREKEEPER or DISMISSED in roles):
        raise Refusal("has_no_role", who=tx.directory.account_name(account.account_id) if account else f"QQ{qq}")
    account = account or await tx.account(qq)  # an admin of a scoring group who has not spoken there yet
    actor = await tx.known(actor)
    left = roles - {role}
    await tx.set_roles(account.account_id, left | {DISMISSED} if role == SCOREKEEPER else left, by=actor.account_id)
    await tx.journal(
        actor, said_at, f"免去{ROLE_TITLES[role]}", player=account.player_id, detail=f"账号{account.account_id}"
    )


# --- /绑定 预览 --------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Member:
    """A member of a group as QQ tells: `card` is his group card or nickname, `joined_at` in ms."""

    qq: str
    card: str
    joined_at: int
    admin: bool = False
    """Owner or admin of the group."""


async def admit_admins(tx: Tx, members: list[Member]) -> int:
    """Make owner and admins of a scoring group scorekeepers, unless dismissed. Return how many are new."""
    admitted = 0
    for member in members:
        if member.admin and not tx.directory.actor(member.qq).desk:
            admitted += (await tx.actor(member.qq, scoring_admin=True)).desk
    return admitted


@dataclass(frozen=True, slots=True)
class CardMatches:
    """Group cards against the roster: exact ones can be bound, the others are for a scorekeeper to look at."""

    exact: tuple[tuple[str, int], ...]
    ambiguous: tuple[tuple[str, str], ...]
    """(card, why): several members with one card, a near miss, a name that has a QQ, or two names in a card."""
    held_back: tuple[tuple[str, str], ...]
    """(name, why): exact, but rated 2200 or more, or joined within 30 days."""
    none: int
    bound: int


def match_cards(tx: Tx, members: list[Member], at: int) -> CardMatches:
    """Match group cards with roster names, exactly (a card proves little: high ratings and newcomers are held back)."""
    roster = tx.directory.roster
    wanted: dict[int, list[Member]] = {}
    ambiguous: list[tuple[str, str]] = []
    held: list[tuple[str, str]] = []
    none = bound = 0
    for member in members:
        account = tx.directory.by_qq.get(member.qq)
        if account is not None and account.player_id is not None:
            bound += 1
        elif (player := roster.resolve(member.card)) is not None:
            wanted.setdefault(player, []).append(member)
        elif near := roster.nearest(member.card, 1):
            ambiguous.append((member.card, f"像「{near[0]}」"))
        else:
            none += 1
    exact: list[tuple[str, int]] = []
    for player, found in wanted.items():
        name = tx.directory.name_of(player)
        top = max(p.standings[player].rating if player in p.standings else 0.0 for p in tx.book.state.pools.values())
        if len(found) > 1:
            ambiguous.append((name, f"{len(found)}人用同一名片"))
        elif tx.directory.qqs_of(player):
            ambiguous.append((name, "已绑定别的QQ"))
        elif max(top, tx.book.state.initial[player]) >= IP_CHECK_RATING.on(day_of(at)):
            held.append((name, f"{IP_CHECK_RATING.on(day_of(at)):g}分以上"))
        elif at - found[0].joined_at < RECENT_DAYS * DAY_MS:
            held.append((name, f"入群不满{RECENT_DAYS}天"))
        else:
            exact.append((found[0].qq, player))
    return CardMatches(tuple(exact), tuple(ambiguous), tuple(held), none, bound)


async def preview_cards(tx: Tx, actor: Actor, matches: CardMatches, place: Place) -> Preview:
    """Keep the exact matches as 预N until the same scorekeeper confirms them."""
    actor = await tx.known(actor)
    preview = Preview(
        await tx.counters.take("preview"), BIND_CARDS, json.dumps(matches.exact), actor.account_id, place.chat,
        tx.book.seq, place.said_at, place.said_at + PREVIEW_MINUTES * 60_000,
    )  # fmt: skip
    await tx.desk.add_preview(preview)
    return preview


async def apply_cards(tx: Tx, actor: Actor, preview: Preview, said_at: int) -> tuple[int, int]:
    """Bind what the preview showed; pairs that changed meanwhile are left out. Return (bound, left out)."""
    done = left = 0
    for qq, player in json.loads(preview.payload):
        known = tx.directory.by_qq.get(qq)
        mine = qq == actor.qq and not actor.superuser
        if mine or (known is not None and known.player_id is not None) or tx.directory.qqs_of(player):
            left += 1
            continue
        await tx.bind(await tx.account(qq), player, by=actor.account_id)
        done += 1
    await tx.journal(actor, said_at, "绑定预览", about=f"预{preview.preview_id}", detail=f"绑定{done}人")
    return done, left
