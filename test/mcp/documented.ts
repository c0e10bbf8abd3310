import { readFileSync } from "node:fs";

/** Returns the programs listed below "Checked against" in docs/reference/mcp.md, as `name version`. */
export function documentedPeers(): readonly string[] {
  const page = readFileSync(new URL("../../docs/reference/mcp.md", import.meta.url), "utf8");
  const [, section = ""] = page.split("## Checked against");
  return [...section.matchAll(/`(@modelcontextprotocol\/\S+ [^`]+)`/g)].map(
    ([, title = ""]) => title,
  );
}
