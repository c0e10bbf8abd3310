import { isHostName } from "../../core/hosts.ts";
import { allScopes, type Scope } from "../../core/scope.ts";
import { readDotEnv } from "../dot-env.ts";
import {
  type Arguments,
  type Command,
  readArguments,
  textFlag,
  textFlags,
  UsageError,
  wholeNumber,
} from "../usage.ts";

export const mcp: Command = {
  summary: "the MCP server: the platform's API as 13 tools for an assistant, over stdio or HTTP",
  usage: "mcp [--scopes read,dm] [--http PORT [--host 127.0.0.1] [--allow-host NAME]]",
  details: `  --scopes LIST      the scopes that may be used, separated by commas: read, posts:write, comments:write, dm.
                     Tools that need others are neither listed nor carried out, so that read alone changes
                     nothing. Without it, harmless requests find out which ones the token has
  --http PORT        Streamable HTTP at /mcp on this port instead of stdio; 0 takes a free one. Each request
                     brings the token of its bot: Authorization: Bearer <API_KEY>
  --host 127.0.0.1   address to listen on; behind a proxy that speaks https, leave it
  --allow-host NAME  a name that it answers to besides localhost, such as the proxy's; can be repeated

SERVICE_BASE_URL says where the platform is, and over stdio SERVICE_API_KEY the token; both may be in .env here.
Over stdio nothing but the protocol is on standard output; problems are told on standard error.`,
  run: async (args) => {
    const given = readArguments(args, flags, { max: 0 });
    const scopes = scopesOf(given);
    const port = wholeNumber(given, "http", { min: 0, max: 65_535 });
    const host = textFlag(given, "host")?.trim();
    const allowHosts = textFlags(given, "allow-host");
    if (port === undefined && (host !== undefined || allowHosts.length > 0)) {
      throw new UsageError("--host and --allow-host go with --http PORT.");
    }
    const strange = allowHosts.find((name) => !isHostName(name));
    if (strange !== undefined) {
      throw new UsageError(
        `--allow-host takes a name without scheme, port and wildcard, such as mcp.example (got ${JSON.stringify(strange)}).`,
      );
    }
    if (host === "") throw new UsageError("--host takes an address of this machine.");
    readDotEnv();
    // Loaded late: the SDK is large, and no other command has a use for it.
    if (port === undefined) return await (await import("./over-stdio.ts")).overStdio(scopes);
    const { overHttp } = await import("./over-http.ts");
    return await overHttp({ port, host, allowHosts, scopes });
  },
};

const flags = {
  scopes: { type: "string" },
  http: { type: "string" },
  host: { type: "string" },
  "allow-host": { type: "string", multiple: true },
} as const;

/** @throws {UsageError} */
function scopesOf(given: Arguments): readonly Scope[] | undefined {
  const text = textFlag(given, "scopes");
  if (text === undefined) return undefined;
  const names = text.split(",").map((name) => name.trim());
  const found = allScopes.filter((scope) => names.includes(scope));
  const unknown = names.filter((name) => !allScopes.some((scope) => scope === name));
  if (unknown.length === 0) return found;
  throw new UsageError(
    `--scopes takes some of ${allScopes.join(",")} (got ${JSON.stringify(unknown.join(","))}).`,
  );
}
