"""An agent by the protocol's own Python library, which checks every message and every result against its schema.

usage: mcp_client.py TK FOLDER DRAFT: reviews a draft in its root FOLDER, and prints what it was told as JSON.
"""
import asyncio, json, pathlib, sys

from mcp import ClientSession, StdioServerParameters, types
from mcp.client.stdio import stdio_client


async def main(program, folder, draft):
    # Only what it is given: the library passes on HOME and PATH by itself.
    server = StdioServerParameters(command=program, args=["mcp"])
    name = types.Implementation(name="peer", version="1")

    async def roots(context):
        return types.ListRootsResult(roots=[types.Root(uri=pathlib.Path(folder).as_uri())])

    async with stdio_client(server) as streams, ClientSession(
        *streams, client_info=name, list_roots_callback=roots
    ) as session:
        agreed = await session.initialize()
        await session.send_ping()
        tools = (await session.list_tools()).tools

        async def call(tool, **arguments):
            result = await session.call_tool(tool, arguments)
            return {"failed": result.isError, "value": result.structuredContent, "text": result.content[0].text}

        resources = (await session.list_resources()).resources
        told = {
            "protocol": agreed.protocolVersion, "server": agreed.serverInfo.name,
            "tools": sorted(tool.name for tool in tools), "drafts": await call("list_drafts"),
            "before": await call("read_draft", draft=draft),
            "proposed": await call(
                "propose", draft=draft, quote="The system", replacement="The program", reason="It is no system."),
            "commented": await call("comment", draft=draft, quote="process data", comment="Which data?"),
            "lost": await call("comment", draft=draft, quote="nowhere to be found", comment="?"),
            "after": await call("read_draft", draft=draft),
            "resource": (await session.read_resource(resources[0].uri)).contents[0].text,
        }
    print(json.dumps(told))


asyncio.run(main(*sys.argv[1:]))
