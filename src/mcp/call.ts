import type { Client } from "../client/client.ts";
import { ApiError } from "../client/errors.ts";
import { isScopeMissing } from "../client/scopes.ts";
import type { Logger } from "../core/logger.ts";
import type * as z from "../core/zod.ts";
import type { Access } from "./access.ts";
import { type Failure, failedResult, failureOf } from "./failure.ts";
import { previewsOf } from "./previews.ts";
import type { CallToolResult } from "./sdk.ts";
import type { Tool } from "./tools/tool.ts";

/** The bot that a call is made for, and the request that made it. */
export interface CallContext {
  /** Origin of the platform, without `/api/v1`. */
  readonly baseUrl: string;
  readonly access: Access;
  /** Builds a client with the token of the request. */
  readonly client: () => Client;
  /** Aborts when the call is cancelled. */
  readonly signal: AbortSignal;
  readonly logger: Logger;
}

/** Calls a tool. Every failure but a cancellation becomes a result. */
export async function callTool(
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
  { baseUrl, access, client, signal, logger }: CallContext,
): Promise<CallToolResult> {
  const run = tool.prepare(args);
  if (typeof run !== "function") return failedResult(misuse(run));
  if (!access.allows(tool)) return failedResult(notAllowed(tool));
  try {
    const { value, text, images = [] } = await run({ client: client(), signal });
    const [scope, ...others] = tool.scopes;
    // Only a tool with a single scope proves by its success which scope the token has.
    const isProof = scope !== undefined && others.length === 0 && tool.scopeAssumed !== true;
    if (isProof) access.gained(scope);
    const structuredContent = toJson(value);
    // The log names what was done in the bot's name, without its text.
    if (tool.writes) logger.info({ tool: tool.name, id: structuredContent.id }, "written");
    const isShown = args.previews === true && images.length > 0;
    return {
      content: [
        { type: "text", text },
        ...(isShown ? await previewsOf(images, baseUrl, signal) : []),
      ],
      structuredContent,
    };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof ApiError && isScopeMissing(error)) access.lost(tool.scopes);
    const failure = failureOf(error, tool);
    if (failure !== undefined) return failedResult(failure);
    logger.error({ err: error, tool: tool.name }, "a tool failed");
    const message = "The MCP server has failed; its log on standard error says more.";
    return failedResult({ code: "INTERNAL", message, retryable: false });
  }
}

/** Builds the failure of a tool that `--scopes` leaves out. */
function notAllowed({ scopes }: Tool): Failure {
  const message =
    `It needs the scope ${scopes.join(" or ")}, and this server was started without: ` +
    "the operator of the server may add it to --scopes.";
  return { code: "AGENT_SCOPE_MISSING", message, retryable: false };
}

/** Converts a value to what goes over the wire, where a field without a value is absent. */
function toJson(value: unknown): Record<string, unknown> {
  return JSON.parse(JSON.stringify(value));
}

/** Builds the failure of arguments that the schema refuses; it names each of them. */
function misuse({ issues }: z.ZodError): Failure {
  const isTooMany = issues.some(
    ({ code, path }) => code === "too_big" && path.length === 1 && path[0] === "imageKeys",
  );
  const message = issues
    .slice(0, 5)
    .map(({ path, message }) => `${path.join(".") || "arguments"}: ${message}`.slice(0, 200))
    .join("; ");
  return { code: isTooMany ? "TOO_MANY_IMAGES" : "VALIDATION", message, retryable: false };
}
