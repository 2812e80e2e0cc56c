"""`tk lsp` by somebody else's client (pytest-lsp, on pygls): the protocol's types, and what real editors say they can do.

usage: TK=PROGRAM TK_SESSION_HOME=FOLDER python -m pytest lsp_session.py

A message that the client's types do not know, or that the editor has not said it can handle, fails the test.
"""
import asyncio, os, pathlib, socket, typing

import pytest
import pytest_lsp
from lsprotocol import types
from pytest_lsp import ClientServerConfig, LanguageClient, client_capabilities, make_test_lsp_client

pytestmark = pytest.mark.filterwarnings("error::pytest_lsp.LspSpecificationWarning")

HOME = pathlib.Path(os.environ["TK_SESSION_HOME"])
DRAFT = HOME / "two" / "draft.md"
URI = DRAFT.as_uri()
TEXT = "# Überschrift 🐦\n\n🐦🐦 It was was é utilized.\n"


def quiet_server():
    """A service that takes calls and never answers; its address."""
    listener = socket.create_server(("127.0.0.1", 0))
    # Kept open as long as the tests run.
    quiet_server.listener = listener
    return f"http://127.0.0.1:{listener.getsockname()[1]}"


def client_with_edits():
    client = make_test_lsp_client()
    client.edits = []
    # lsprotocol takes an action with a command for a command alone.
    client.protocol._converter.register_structure_hook(
        typing.Union[types.Command, types.CodeAction],
        lambda value, _: client.protocol._converter.structure(
            value, types.Command if isinstance(value["command"], str) else types.CodeAction))

    @client.feature(types.WORKSPACE_APPLY_EDIT)
    def apply(params: types.ApplyWorkspaceEditParams):
        client.edits.append(params.edit)
        return types.ApplyWorkspaceEditResult(applied=True)

    @client.feature(types.CLIENT_REGISTER_CAPABILITY)
    def register(params: types.RegistrationParams):
        return None

    @client.feature(types.WORKSPACE_CODE_LENS_REFRESH)
    def refresh(params):
        return None

    return client


@pytest_lsp.fixture(
    config=ClientServerConfig(
        server_command=[os.environ["TK"], "lsp", "--debounce", "20"],
        server_env={
            "PATH": os.environ["PATH"], "HOME": str(HOME), "DICPATH": "", "TK_BASE_URL": quiet_server(),
            "TK_API_KEY": "sk-ant-none",
        },
        client_factory=client_with_edits,
    ),
    params=["neovim@v0.11.0", "emacs@v29.1", "visual_studio_code@v1.65.2", "utf-8"],
)
async def client(request, lsp_client: LanguageClient):
    if request.param == "utf-8":
        abilities = client_capabilities("neovim@v0.11.0")
        abilities.general.position_encodings = [types.PositionEncodingKind.Utf8, types.PositionEncodingKind.Utf16]
    else:
        abilities = client_capabilities(request.param)
        if abilities.general:
            abilities.general.position_encodings = [types.PositionEncodingKind.Utf16]
    DRAFT.parent.mkdir(parents=True, exist_ok=True)
    lsp_client.set_configuration({"tk": {"ignore": ["weak-words"]}})
    folders = [types.WorkspaceFolder(uri=(HOME / name).as_uri(), name=name) for name in ("one", "two")]
    result = await lsp_client.initialize_session(
        types.InitializeParams(capabilities=abilities, workspace_folders=folders,
                               initialization_options={"longSentence": 30}))
    lsp_client.encoding = result.capabilities.position_encoding
    assert lsp_client.encoding == ("utf-8" if request.param == "utf-8" else "utf-16")
    assert result.capabilities.text_document_sync.change == types.TextDocumentSyncKind.Incremental
    assert result.capabilities.workspace.workspace_folders.supported
    assert result.server_info.name == "tk"
    lsp_client.text, lsp_client.version = TEXT, 1
    DRAFT.write_text(TEXT, encoding="utf-8")
    lsp_client.text_document_did_open(
        types.DidOpenTextDocumentParams(types.TextDocumentItem(URI, "markdown", 1, TEXT)))
    yield
    await lsp_client.shutdown_session()


# Columns, as the client counts them.

def width(client, text):
    return len(text.encode()) if client.encoding == "utf-8" else len(text.encode("utf-16-le")) // 2


def place(client, offset):
    lines = client.text[:offset].split("\n")
    return types.Position(len(lines) - 1, width(client, lines[-1]))


def offset(client, position):
    lines = client.text.split("\n")
    line, column = lines[position.line], 0
    while width(client, line[:column]) < position.character:
        column += 1
    return sum(len(one) + 1 for one in lines[:position.line]) + column


def words(client, span):
    return client.text[offset(client, span.start):offset(client, span.end)]


def replace(client, start, end, new):
    """Types, as an editor that says only what has changed."""
    span = types.Range(place(client, start), place(client, end))
    client.text = client.text[:start] + new + client.text[end:]
    client.version += 1
    client.text_document_did_change(types.DidChangeTextDocumentParams(
        types.VersionedTextDocumentIdentifier(client.version, URI),
        [types.TextDocumentContentChangePartial(text=new, range=span)]))


async def pulled(client):
    report = await client.text_document_diagnostic_async(
        types.DocumentDiagnosticParams(types.TextDocumentIdentifier(URI)))
    assert isinstance(report, types.RelatedFullDocumentDiagnosticReport)
    return [(item.code, words(client, item.range)) for item in report.items]


async def eventually(condition):
    """Waits until something is so; a time limit ends the test otherwise."""
    async def wait():
        while not await condition():
            await asyncio.sleep(0.01)

    await asyncio.wait_for(wait(), 60)


async def actions(client, quote):
    start = client.text.index(quote)
    span = types.Range(place(client, start), place(client, start + len(quote)))
    return await client.text_document_code_action_async(types.CodeActionParams(
        types.TextDocumentIdentifier(URI), span, types.CodeActionContext([])))


async def run(client, action):
    call = action.command
    return await client.workspace_execute_command_async(types.ExecuteCommandParams(call.command, call.arguments))


@pytest.mark.asyncio
async def test_findings_are_pushed_and_pulled(client):
    async def are_pushed():
        return URI in client.diagnostics

    await eventually(are_pushed)
    expected = [("repeated-word", "was was"), ("wordy", "utilized")]
    assert [(item.code, words(client, item.range)) for item in client.diagnostics[URI]] == expected
    assert await pulled(client) == expected
    start = client.text.index("é")
    replace(client, start, start + 1, "😀 is is")
    replace(client, client.text.index("was was"), client.text.index("was was") + 4, "")
    assert await pulled(client) == [("repeated-word", "is is"), ("wordy", "utilized")]
    replace(client, 0, 0, "🐦\n")
    assert await pulled(client) == [("repeated-word", "is is"), ("wordy", "utilized")]


@pytest.mark.asyncio
async def test_an_action_changes_the_buffer_by_way_of_the_client(client):
    found = await actions(client, "utilized")
    assert found[0].title == "Change to “used”" and found[0].kind == types.CodeActionKind.QuickFix
    running = asyncio.ensure_future(run(client, found[0]))

    async def is_asked():
        return client.edits

    await eventually(is_asked)
    change = client.edits[0].document_changes[0]
    assert (change.text_document.uri, change.text_document.version) == (URI, client.version)
    for edit in change.edits:
        replace(client, offset(client, edit.range.start), offset(client, edit.range.end), edit.new_text)
    await running
    assert client.text == TEXT.replace("utilized", "used")
    assert await pulled(client) == [("repeated-word", "was was")]
    await run(client, next(action for action in await actions(client, "was was") if action.title == "Skip"))
    assert await pulled(client) == []


@pytest.mark.asyncio
async def test_settings_are_those_of_the_client(client):
    if not client.capabilities.workspace.configuration:
        pytest.skip("this client is not asked for settings")
    for ignored, expected in [("repeated-word", ("wordy", "utilized")), ("wordy", ("repeated-word", "was was"))]:
        client.set_configuration({"tk": {"ignore": [ignored]}})
        client.workspace_did_change_configuration(types.DidChangeConfigurationParams(settings=None))

        async def counts():
            return await pulled(client) == [expected]

        await eventually(counts)


@pytest.mark.asyncio
async def test_a_hover_and_a_lens(client):
    hover = await client.text_document_hover_async(
        types.HoverParams(types.TextDocumentIdentifier(URI), place(client, client.text.index("utilized") + 2)))
    assert "`wordy`" in hover.contents.value and words(client, hover.range) == "utilized"
    lenses = await client.text_document_code_lens_async(types.CodeLensParams(types.TextDocumentIdentifier(URI)))
    assert lenses[0].command.title.startswith("tk: 2 findings")


@pytest.mark.asyncio
async def test_a_review_is_cancelled(client):
    from pygls.exceptions import JsonRpcException

    request = asyncio.wrap_future(client.protocol.send_request(
        types.WORKSPACE_EXECUTE_COMMAND, types.ExecuteCommandParams("tk.review", [URI, "editor", "technical_writer"]),
        msg_id="review"))
    # Other requests are answered meanwhile.
    assert len(await pulled(client)) == 2
    client.cancel_request(types.CancelParams(id="review"))
    with pytest.raises(JsonRpcException) as failure:
        await request
    assert failure.value.code == -32800
    assert len(await pulled(client)) == 2
