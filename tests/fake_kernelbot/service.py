"""What each route does: the service itself, without HTTP's wire and without the network's faults."""

import json
from collections.abc import Callable, Mapping
from io import BytesIO

from werkzeug.exceptions import HTTPException, MethodNotAllowed
from werkzeug.routing import Map, Rule
from werkzeug.test import create_environ
from werkzeug.wrappers import Request

from . import shown
from .boards import BOARDS, INVITE_CODE, Board
from .call import Call, Problem, integer_of, parsed, text_of, upload
from .checks import Circumstances, Refused, check_form, check_submission
from .events import events, refusal
from .faults import Stage, Switches
from .rows import Pace, Row, Rows
from .runner import outcome
from .upload import Upload
from .users import PROVIDERS, LoginFailed, User, Users, unpacked_state
from .wire import Answer, Chunks, Received

CLI_HEADER = "x-popcorn-cli-id"
WEB_HEADER = "x-web-auth-id"
GUARD_FAULTS = ("hacked", "guard-unavailable")

ROUTES = Map(
    [
        Rule("/health", methods=["GET"], endpoint="health"),
        Rule("/auth/init", methods=["GET"], endpoint="start_login"),
        Rule("/auth/cli/<provider>", methods=["GET"], endpoint="finish_login"),
        Rule("/leaderboards", methods=["GET"], endpoint="leaderboards"),
        Rule("/gpus/<board>", methods=["GET"], endpoint="gpus"),
        Rule("/runner_queue/<gpu>", methods=["GET"], endpoint="runner_queue"),
        Rule("/submissions/<board>/<gpu>", methods=["GET"], endpoint="ranking"),
        Rule("/submission_count/<board>/<gpu>", methods=["GET"], endpoint="submission_count"),
        Rule("/user/submissions", methods=["GET"], endpoint="user_submissions"),
        Rule("/user/submissions/<number>", methods=["GET"], endpoint="show"),
        Rule("/user/submissions/<number>", methods=["DELETE"], endpoint="delete"),
        Rule("/user/join", methods=["POST"], endpoint="join"),
        Rule("/submission/<board>/<gpu>/<mode>", methods=["POST"], endpoint="submit"),
        Rule("/<board>/<gpu>/<mode>", methods=["POST"], endpoint="submit_streaming"),
    ],
    merge_slashes=False,
    redirect_defaults=False,
)


class Service:
    """The routes over users and rows.

    limits: submissions an hour by category (`leaderboard`, `test`). hour: how many seconds such an hour has.
    """

    def __init__(
        self, users: Users, rows: Rows, switches: Switches, pace: Pace, limits: Mapping[str, int], hour: float
    ) -> None:
        self._users = users
        self._rows = rows
        self._switches = switches
        self._pace = pace
        self._limits = limits
        self._hour = hour
        self._boards = {board.name: board for board in BOARDS}

    def answer(self, received: Received) -> Answer:
        """Carries a request out."""
        environ = create_environ(
            path=received.path,
            query_string=received.query,
            method=received.method,
            headers=received.headers,
            input_stream=BytesIO(received.body),
            content_length=len(received.body),
            content_type=received.headers.get("content-type"),
        )
        try:
            endpoint, parts = ROUTES.bind_to_environ(environ).match()
        except MethodNotAllowed:
            return json_answer({"detail": "Method Not Allowed"}, 405)
        except HTTPException:
            return json_answer({"detail": "Not Found"}, 404)
        route: Callable[..., Answer] = getattr(self, f"_{endpoint}")
        try:
            return route(Call(received, Request(environ)), **parts)
        except Problem as problem:
            return json_answer({"detail": problem.detail}, problem.status)

    def _health(self, call: Call) -> Answer:
        return json_answer({"status": "ok"})

    def _start_login(self, call: Call) -> Answer:
        provider = text_of(call, "provider")
        if provider not in PROVIDERS:
            raise Problem(400, "Invalid provider, must be 'discord' or 'github'")
        return json_answer({"state": self._users.start_login()})

    def _finish_login(self, call: Call, provider: str) -> Answer:
        code, state = text_of(call, "code"), text_of(call, "state")
        if provider not in PROVIDERS:
            raise Problem(400, "Invalid provider, must be 'discord' or 'github'")
        try:
            cli_id, again = unpacked_state(state)
            user = self._users.finish_login(provider, code, cli_id, again)
        except LoginFailed as error:
            raise Problem(400, str(error)) from None
        done = "reset" if again else "registered"
        return json_answer(
            {
                "status": "success",
                "message": f"Successfully {done} via {provider}",
                "user_id": str(user.number),
                "user_name": user.name,
                "is_reset": again,
            }
        )

    def _leaderboards(self, call: Call) -> Answer:
        return json_answer([board.as_json() for board in self._boards.values()])

    def _gpus(self, call: Call, board: str) -> Answer:
        return json_answer(list(self._listed(call, board, "GPU data").gpus))

    def _runner_queue(self, call: Call, gpu: str) -> Answer:
        return json_answer(shown.queue(gpu, self._rows.queued(gpu)))

    def _ranking(self, call: Call, board: str, gpu: str) -> Answer:
        limit, offset = integer_of(call, "limit", None), integer_of(call, "offset", 0) or 0
        if gpu not in self._listed(call, board, "submissions").gpus:
            raise Problem(500, f"Error fetching submissions: Invalid GPU type '{gpu}' for leaderboard '{board}'")
        entries = shown.ranking(self._rows.all(), board, gpu)[offset:]
        return self._shown(call, entries if limit is None else entries[:limit])

    def _submission_count(self, call: Call, board: str, gpu: str) -> Answer:
        self._listed(call, board, "submission count")
        wanted = call.request.args.get("user_id")
        rows = [row for row in self._rows.all() if (row.leaderboard, row.gpu) == (board, gpu) and row.state().ranked]
        if wanted is None:
            return json_answer({"count": len({row.user_id for row in rows})})
        return json_answer({"count": sum(str(row.user_id) == wanted for row in rows)})

    def _user_submissions(self, call: Call) -> Answer:
        user = self._user(call)
        limit, offset = integer_of(call, "limit", 50) or 0, integer_of(call, "offset", 0) or 0
        if not 1 <= limit <= 100:
            raise Problem(400, "limit must be between 1 and 100")
        if offset < 0:
            raise Problem(400, "offset must be >= 0")
        board = call.request.args.get("leaderboard")
        rows = [row for row in self._rows.all() if row.user_id == user.number and board in (None, "", row.leaderboard)]
        return self._shown(call, [shown.entry(row) for row in rows[::-1][offset : offset + limit]])

    def _show(self, call: Call, number: str) -> Answer:
        row = self._own_row(call, number, "view")
        return self._shown(call, shown.detail(row, self._boards[row.leaderboard], self._rows.queued(row.gpu)))

    def _delete(self, call: Call, number: str) -> Answer:
        row = self._own_row(call, number, "delete")
        self._rows.delete(row)
        return json_answer({"status": "ok", "submission_id": row.id})

    def _join(self, call: Call) -> Answer:
        user = self._cli_user(call)
        try:
            body = json.loads(call.received.body)
        except ValueError as error:
            reason = {"type": "json_invalid", "loc": ["body", 0], "msg": "JSON decode error", "input": {}}
            raise Problem(422, [reason | {"ctx": {"error": str(error)}}]) from None
        if not isinstance(body, dict):
            reason = {"type": "dict_type", "loc": ["body"], "msg": "Input should be a valid dictionary", "input": body}
            raise Problem(422, [reason])
        code = body.get("code")
        if not code:
            raise Problem(400, "Missing required field: code")
        if code != INVITE_CODE:
            raise Problem(400, "Invalid invite code")
        if not self._users.claim(code, user):
            raise Problem(400, "This invite code has already been claimed")
        joined = [board.name for board in self._boards.values() if board.invite_code == code]
        user.boards.update(joined)
        return json_answer({"status": "ok", "leaderboards": joined})

    def _submit(self, call: Call, board: str, gpu: str, mode: str) -> Answer:
        user = self._user(call)
        sent = upload(call, board, gpu, mode)
        try:
            row = self._accepted(call, user, sent, background=True)
        except Refused as refused:
            prefix = f"failed to prepare submission request: {refused.status}: " if refused.early else ""
            raise Problem(400 if refused.early else refused.status, prefix + refused.text) from None
        except IndexError as error:
            raise Problem(400, f"failed to prepare submission request: {error}") from None
        details = {"id": row.id, "job_status_id": row.job_id}
        line = shown.queue(gpu, self._rows.queued(gpu))
        return json_answer({"details": details, "runner_queue": line, "status": "accepted"}, 202)

    def _submit_streaming(self, call: Call, board: str, gpu: str, mode: str) -> Answer:
        user = self._cli_user(call)
        sent = upload(call, board, gpu, mode)
        try:
            row = self._accepted(call, user, sent, background=False)
        except Refused as refused:
            if refused.early:
                raise Problem(refused.status, refused.text) from None
            return _stream(refusal(refused.text))
        except IndexError as error:
            return _stream(refusal("An unexpected error occurred: IndexError", None, str(error)))
        fault = self._switches.take(Stage.STREAM, call.received)
        return _stream(events(row, self._pace.heartbeat, call.received.peer, fault))

    def _accepted(self, call: Call, user: User, sent: Upload, background: bool) -> Row:
        """The stored row of a submission that passed every check."""
        code = check_form(sent, self._boards)
        mode = sent.mode.lower()
        with self._rows.lock:
            fault = self._switches.take(Stage.CHECK, call.received)
            around = Circumstances(user, self._rows.all(), self._limits, self._hour, fault)
            check_submission(sent, code, self._boards[sent.board], around)
            trouble = self._switches.take(Stage.JOB, call.received, lambda name: _concerns(name, mode))
            end = outcome(code, mode, sent.gpu, trouble)
            return self._rows.add(user, sent, code, end, trouble, background)

    def _user(self, call: Call) -> User:
        """The user of either header; the web site's wins."""
        headers = call.received.headers
        if not headers.get(WEB_HEADER) and not headers.get(CLI_HEADER):
            raise Problem(400, "Missing X-Web-Auth-Id or X-Popcorn-Cli-Id header")
        user = None if headers.get(WEB_HEADER) else self._users.of(headers[CLI_HEADER])
        if user is None:
            raise Problem(401, "Invalid or unauthorized auth header")
        return user

    def _cli_user(self, call: Call) -> User:
        cli_id = call.received.headers.get(CLI_HEADER)
        if not cli_id:
            raise Problem(400, "Missing X-Popcorn-Cli-Id header")
        user = self._users.of(cli_id)
        if user is None:
            raise Problem(401, "Invalid or unauthorized X-Popcorn-Cli-Id")
        return user

    def _listed(self, call: Call, name: str, what: str) -> Board:
        """A board whose lists the caller may see."""
        board = self._boards.get(name)
        if board is None:
            raise Problem(500, f"Error fetching {what}: Leaderboard `{name}` does not exist.")
        if board.closed:
            cli_id = call.received.headers.get(CLI_HEADER, "")
            user = self._users.of(cli_id) if cli_id else None
            if user is None:
                raise Problem(401, f"Authentication required to access leaderboard `{name}`")
            if name not in user.boards:
                raise Problem(403, f"You do not have access to leaderboard `{name}`.")
        return board

    def _own_row(self, call: Call, number: str, what: str) -> Row:
        user = self._user(call)
        row = self._rows.find(parsed(number, "path", "submission_id"))
        if row is None:
            raise Problem(404, "Submission not found")
        if row.user_id != user.number:
            raise Problem(403, f"Not authorized to {what} this submission")
        return row

    def _shown(self, call: Call, value: object) -> Answer:
        """An answer that shows or lists submissions, spoiled by the faults that are on."""
        show = self._switches.take(Stage.SHOW, call.received, lambda name: shown.concerns(name, value))
        if show:
            value = shown.faulty(show, value)
        score = self._switches.take(
            Stage.SCORE, call.received, lambda name: name == "huge-ids" or shown.has_score(value)
        )
        return json_answer(shown.with_scores(score, value) if score else value)


def json_answer(value: object, status: int = 200) -> Answer:
    """JSON in the service's compact form."""
    return Answer(status, json.dumps(value, ensure_ascii=False, separators=(",", ":")).encode())


def _stream(body: Chunks) -> Answer:
    return Answer(200, body, "text/event-stream; charset=utf-8")


def _concerns(fault: str, mode: str) -> bool:
    """KernelGuard does not look at tests; only a ranked submission has secret runs."""
    if fault in GUARD_FAULTS:
        return mode != "test"
    return fault != "secret-failed" or mode == "leaderboard"
