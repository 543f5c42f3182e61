import os

import httpx2
from fastmcp import FastMCP
from fastmcp.server.providers.openapi import MCPType, RouteMap

paths = "cards|cards/named|cards/{idProduct}|sets|games|movers|series"
api = httpx2.AsyncClient(base_url=os.environ["CARDS"], headers={"Authorization": f"Bearer {os.environ['KEY']}"})
description = httpx2.get(f"{os.environ['CARDS']}/api/v1/openapi.json").json()
tools, others = RouteMap(pattern=f"^/api/v1/({paths})$", mcp_type=MCPType.TOOL), RouteMap(mcp_type=MCPType.EXCLUDE)
FastMCP.from_openapi(description, client=api, name="Card prices", route_maps=[tools, others]).run()
