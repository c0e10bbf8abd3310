import { ConfigError, hasCode } from "../../errors.ts";
import type { ListenOptions, Platform } from "../../platform/index.ts";
import { ControlClient } from "../control-client.ts";
import { ownCommand } from "../own-command.ts";
import { CommandError } from "../usage.ts";
import { CONTROL_TOKEN_VARIABLE } from "./control-file.ts";
import { hostedMcp } from "./hosted-mcp.ts";
import { localPlatformUrl, PLATFORM_PORT } from "./settings.ts";

/** How long a platform on a port that is taken has to say that it is one, in milliseconds. */
const PROBE_MS = 1_000;

/** What the options of a platform are called here. */
const flagOf: Readonly<Record<string, string>> = {
  apiKey: "SERVICE_API_KEY",
  webhookSecret: "SERVICE_WEBHOOK_SECRET",
  controlToken: CONTROL_TOKEN_VARIABLE,
  stateFile: "--state",
  allowHosts: "--allow-host",
  "host, port": "--port",
};

/**
 * Starts a platform for a command, and says what to do where that fails.
 *
 * @throws {CommandError}
 */
export async function startLocalPlatform(
  command: "platform" | "dev",
  options: ListenOptions & { readonly port: number },
): Promise<Platform> {
  // Loaded late: it takes longer than most commands, which have no use for it.
  const { startPlatform } = await import("../../platform/server.ts");
  try {
    const extensions = [hostedMcp()];
    return await startPlatform({ ...options, extensions });
  } catch (error) {
    const { port } = options;
    if (hasCode(error, "ADDRESS_IN_USE")) throw new CommandError(await taken(command, port));
    if (!(error instanceof ConfigError)) throw error;
    const lines = error.problems.map((problem) => mendable(problem, command));
    throw new CommandError(lines.join("\n"), { exitCode: 2 });
  }
}

async function taken(command: string, port: number): Promise<string> {
  const url = localPlatformUrl(port);
  const another = anotherPort(command, port < 65_535 ? port + 1 : 0);
  return (await isLocalPlatform(url))
    ? `Port ${port} is taken by another local platform, ${url}: use that one, stop it, or choose another port: ${another}`
    : `Port ${port} is taken by another program: stop it, or choose another port: ${another}`;
}

async function isLocalPlatform(url: string): Promise<boolean> {
  try {
    await new ControlClient(url, { timeoutMs: PROBE_MS }).state();
    return false;
  } catch (error) {
    // It refuses a request without its control token, as only a local platform does.
    return hasCode(error, "UNAUTHORIZED");
  }
}

/** A problem of an option, by the name that it has at the command line. Exported for tests. */
export function mendable(problem: string, command: string): string {
  const [, name = "", text = ""] = /^([\w, ]+): (.*)$/s.exec(problem) ?? [];
  const flag = Object.hasOwn(flagOf, name) ? flagOf[name] : undefined;
  if (flag === undefined) return problem;
  if (flag !== "--port") return `${flag}: ${text}`;
  // No such address here, or a name that nobody knows.
  if (/EADDRNOTAVAIL|ENOTFOUND|EAI_AGAIN/.test(text)) {
    return `--host: ${text}; take an address of this machine, or 0.0.0.0 for all of them`;
  }
  const why = text.includes("EACCES") ? "; ports below 1024 may need permission" : "";
  return `${flag}: ${text}${why}; choose another: ${anotherPort(command, PLATFORM_PORT)}`;
}

function anotherPort(command: string, port: number): string {
  return `${ownCommand()} ${command} --port ${port}`;
}
