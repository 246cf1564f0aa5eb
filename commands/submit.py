"""The command that hands a version in."""

import sys
from pathlib import Path
from typing import TYPE_CHECKING

import click

from mxsub.commands.options import (
    MODES,
    api_url,
    as_json,
    gpu_name,
    poll_option,
    print_json,
    project_folder,
    text_argument,
    variant_name,
)

if TYPE_CHECKING:
    from mxsub.submit.errors import ServiceError
    from mxsub.submit.history.submissions import SubmissionRecord
    from mxsub.submit.posting.sending import Desk
    from mxsub.submit.posting.submitting import Prepared, Submitted
    from mxsub.submit.terminal.following import Watch

# An attempt that never left is asked about before it is sent after so many seconds.
STALE_SECONDS = 3600.0


@click.command()
@text_argument
@variant_name
@gpu_name
@click.option("--mode", type=click.Choice(MODES, case_sensitive=False), default="test", show_default=True)
@click.option("--tag", help="A name for this version.")
@click.option("--force", is_flag=True, help="Go although lint refuses it or local tests are not passed; says which.")
@click.option("-y", "--yes", is_flag=True, help="Do not ask before a ranked submission.")
@click.option("--again", is_flag=True, help="Although an earlier submission of this text and mode is under way.")
@click.option("--no-wait", is_flag=True, help="Hand it in and leave; `mxsub log` has the verdict later.")
@click.option("--wait-for-slot", is_flag=True, help="Where the rate limit refuses, wait until it does not.")
@click.option("--resume", is_flag=True, help="Go on with everything that was handed in and has no verdict yet.")
@poll_option
@api_url
@project_folder
@as_json
def submit(
    named: str | None, variant: str | None, gpu: str | None, mode: str, tag: str | None, force: bool, yes: bool,
    again: bool, no_wait: bool, wait_for_slot: bool, resume: bool, poll_seconds: float, api_url: str | None,
    folder: Path, as_json: bool,
) -> None:  # fmt: skip
    """Hand a version in, follow it to its verdict, and keep all that the service tells.

    It has to be accepted by `mxsub lint`, and this very text has to have passed `mxsub test` in the mode (for
    leaderboard: in the modes test and leaderboard). Exit 0 where it passes, 1 where it does not.
    """
    from mxsub.submit.errors import UsageError
    from mxsub.submit.history import History
    from mxsub.submit.posting.account import open_service
    from mxsub.submit.posting.pace import Pace
    from mxsub.submit.posting.sending import RESUME, Desk
    from mxsub.submit.posting.submitting import begin, prepare, to_resume
    from mxsub.submit.source import source_of
    from mxsub.submit.terminal.following import Watch

    if resume and (named or variant or tag):
        raise UsageError("--resume goes on with what was handed in before", "Leave the version out.")
    watch = Watch(quiet=as_json)
    with open_service(api_url) as bot, History.around(folder) as history:
        desk = Desk(history, bot, Pace.of_poll(poll_seconds), watch.notify, watch.progress)
        if resume:
            records = [record for record in to_resume(desk) if _still_wanted(desk, record, yes)]
        else:
            prepared = prepare(source_of(named, folder, variant, gpu), mode.lower(), history, tag)
            _pass_gate(prepared, force, watch)
            _confirm(prepared, yes)
            record, earlier = begin(prepared, desk, again=again)
            if earlier:
                watch.notify("an earlier submission of this text is under way: going on with it")
            records = [record]
        try:
            with watch:
                submitted, trouble = _carried_out(desk, watch, records, follow=not no_wait, wait_for_slot=wait_for_slot)
        except KeyboardInterrupt:
            click.echo(RESUME, err=True)
            raise
        if submitted or trouble is None:
            _show(desk, submitted, as_json)
    if trouble is not None:
        raise trouble
    if not records:
        click.echo("nothing is under way", err=True)
    sys.exit(0 if all(done.record.verdict in (None, "passed") for done in submitted) else 1)


def _pass_gate(prepared: "Prepared", force: bool, watch: "Watch") -> None:
    from mxsub.submit.errors import MxsubError

    gate, label = prepared.gate, prepared.judged.label
    for finding in prepared.judged.findings:
        if finding.severity == "warning":
            watch.notify(f"{label}:{finding.line}:{finding.column}: {finding.rule} {finding.name}: {finding.message}")
    if gate.open:
        return
    if force:
        watch.notify(f"--force: without {', and without '.join(gate.skipped)}")
        return
    if gate.refusals:
        raise MxsubError(f"the service would refuse {label}: {gate.refusals[0]}", "`mxsub lint` shows all of it.")
    gpu = "" if prepared.project_gpu else f" --gpu {prepared.gpu}"
    commands = " and ".join(f"`mxsub test {prepared.version.sha256[:12]} --mode {mode}{gpu}`" for mode in gate.missing)
    raise MxsubError(
        f"{label} ({prepared.version.sha256[:12]}) has not passed {commands}", "Run that first, or use --force."
    )


def _confirm(prepared: "Prepared", yes: bool) -> None:
    if prepared.mode == "leaderboard":
        _ask(
            f"Submit {prepared.judged.label} ({prepared.version.sha256[:12]}) to {prepared.leaderboard} on "
            f"{prepared.gpu} as a ranked submission?",
            yes,
        )


def _ask(question: str, yes: bool) -> None:
    from mxsub.submit.errors import MxsubError, UsageError

    if not yes:
        if not sys.stdin.isatty():
            raise UsageError("a ranked submission is asked about, and nobody is there to answer", "Use --yes.")
        if not click.confirm(question, err=True):
            raise MxsubError("not submitted: nothing was sent")


def _still_wanted(desk: "Desk", record: "SubmissionRecord", yes: bool) -> bool:
    """Of an attempt that never left, and that is so old that it may be forgotten."""
    from mxsub.submit.history.codec import now

    if record.state != "recorded" or yes or (now() - record.recorded).total_seconds() < STALE_SECONDS:
        return True
    what = f"{record.file_name} ({record.mode}, of {record.recorded:%Y-%m-%d %H:%M} UTC)"
    if not sys.stdin.isatty():
        desk.notify(f"{what} was never sent; --yes sends it")
        return False
    if click.confirm(f"{what} was never sent. Send it?", err=True):
        return True
    sentence = "it was never sent, and given up"
    desk.history.submissions.update(
        record.uid, {"given up": True}, state="finished", verdict="cancelled", sentence=sentence, finished=now()
    )
    return False


def _carried_out(
    desk: "Desk", watch: "Watch", records: "list[SubmissionRecord]", *, follow: bool, wait_for_slot: bool
) -> "tuple[list[Submitted], ServiceError | None]":
    """Hands in each that is not yet, and follows it; and the last thing that went wrong. What the service has against
    one does not keep the others; where it is not there at all, the others are not tried."""
    from mxsub.submit.errors import ServiceError
    from mxsub.submit.kernelbot import ConnectionCut, RateLimited, ServiceFault, Unreachable
    from mxsub.submit.posting.submitting import hand_in, see_through
    from mxsub.submit.terminal.following import clock

    def wait(limit: RateLimited) -> None:
        if not wait_for_slot:
            free = "" if limit.wait_seconds is None else f"A place is free in {clock(limit.wait_seconds)}. "
            limit.hint = f"{free}`--wait-for-slot` waits for it. {limit.hint}".strip()
            raise limit
        watch.count_down(limit)

    done: list[Submitted] = []
    trouble: ServiceError | None = None
    for record in records:
        try:
            submitted = hand_in(desk, record, wait)
            # A profile's request has lasted until its result was there.
            done.append(see_through(desk, submitted, watch.news) if follow or submitted.profile else submitted)
        except ServiceError as error:
            if trouble is not None:
                desk.notify(trouble.message)
            trouble = error
            if isinstance(error, Unreachable | ConnectionCut | ServiceFault):
                break
    return done, trouble


def _show(desk: "Desk", submitted: "list[Submitted]", as_json: bool) -> None:
    from mxsub.submit.terminal.submission import show_submitted

    if as_json:
        print_json([done.to_dict(desk.history) for done in submitted])
        return
    for done in submitted:
        show_submitted(desk.history, done)


COMMANDS = (submit,)
