import { printable } from "../core/terminal.ts";
import type {
  ActInput,
  ActResult,
  ControlComment,
  ControlMessage,
  DeliverInput,
  DeliverResult,
  FaultsChange,
  FaultsState,
  PlatformState,
  TimelineEntry,
  WebhookChange,
  WebhookView,
} from "../platform/types.ts";
import { ownCommand } from "./own-command.ts";
import { CONTROL_TOKEN_VARIABLE, controlFileOf } from "./platform/control-file.ts";
import { PLATFORM_PORT } from "./platform/settings.ts";
import { CommandError } from "./usage.ts";

/** How long a platform has for an answer, in milliseconds. */
const TIMEOUT_MS = 30_000;

export interface ControlClientOptions {
  readonly controlToken?: string | undefined;
  readonly timeoutMs?: number;
}

/** Calls `/control/v1` of a local platform in another process. Every method rejects with a `CommandError`. */
export class ControlClient {
  readonly #platform: string;
  readonly #headers: Readonly<Record<string, string>>;
  readonly #timeoutMs: number;

  /**
   * @param platform its origin, with `#token=…` as it prints it for its portal, or without
   * @param options.controlToken the control token where the address has none; `undefined` if it is not known
   * @param options.timeoutMs how long it has for an answer, waits that were asked for apart
   */
  constructor(
    platform: string,
    { controlToken, timeoutMs = TIMEOUT_MS }: ControlClientOptions = {},
  ) {
    const [origin = "", token = controlToken] = platform.split("#token=");
    this.#platform = origin.replace(/\/+$/, "");
    this.#headers = {
      "content-type": "application/json",
      ...(token === undefined ? {} : { "x-control-token": token }),
    };
    this.#timeoutMs = timeoutMs;
  }

  act(input: ActInput): Promise<ActResult> {
    return this.#request("POST", "/act", { body: input });
  }

  state(): Promise<PlatformState> {
    return this.#request("GET", "/state");
  }

  /** Everything said in a conversation, oldest first. */
  async messages(conversationId: string): Promise<readonly ControlMessage[]> {
    const path = `/conversations/${encodeURIComponent(conversationId)}/messages`;
    const { items } = await this.#request<{ items: ControlMessage[] }>("GET", path);
    return items;
  }

  /** All comments on a post, oldest first. */
  async comments(postId: string): Promise<readonly ControlComment[]> {
    const path = `/posts/${encodeURIComponent(postId)}/comments`;
    const { items } = await this.#request<{ items: ControlComment[] }>("GET", path);
    return items;
  }

  saveWebhook(change: WebhookChange): Promise<WebhookView> {
    return this.#request("PUT", "/webhook", { body: change });
  }

  setFaults(change: FaultsChange): Promise<FaultsState> {
    return this.#request("PUT", "/faults", { body: change });
  }

  /** Delivers these events now, whatever became of them before. */
  async deliver(input: DeliverInput): Promise<readonly DeliverResult[]> {
    type Answer = { readonly deliveries: readonly DeliverResult[] };
    // A hundred of them may take their ten seconds each.
    const options = { body: input, waitMs: Number.POSITIVE_INFINITY };
    const { deliveries } = await this.#request<Answer>("POST", "/deliveries", options);
    return deliveries;
  }

  /** What happened after an entry; waits up to `waitMs` milliseconds for something. */
  timeline(after: number, waitMs: number): Promise<TimelinePage> {
    const wait = Math.ceil(waitMs);
    const path = `/timeline?after=${after}&waitMs=${wait}`;
    return this.#request("GET", path, { waitMs: wait });
  }

  /** Both ends are of one version, so an answer has the shape that the platform's own types say. */
  async #request<T>(
    method: string,
    path: string,
    { body, waitMs = 0 }: { readonly body?: object; readonly waitMs?: number } = {},
  ): Promise<T> {
    const url = `${this.#platform}/control/v1${path}`;
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const timeoutMs = this.#timeoutMs + waitMs;
    const signal = Number.isFinite(timeoutMs) ? { signal: AbortSignal.timeout(timeoutMs) } : {};
    let response: Response;
    try {
      response = await fetch(url, { method, headers: this.#headers, ...init, ...signal });
    } catch (error) {
      throw unreachable(this.#platform, error);
    }
    const answer = await response.json().catch(() => undefined);
    if (response.ok && answer !== undefined) return answer as T;
    throw (
      refused(answer, this.#platform) ?? noPlatform(this.#platform, `answers ${response.status}`)
    );
  }
}

/** A part of the timeline; `last` is where the next part begins. */
export interface TimelinePage {
  readonly entries: readonly TimelineEntry[];
  readonly last: number;
}

function unreachable(platform: string, error: unknown): CommandError {
  if (error instanceof DOMException) return noPlatform(platform, "does not answer");
  const url = new URL(platform);
  const port = Number(url.port) === PLATFORM_PORT ? "" : ` --port ${url.port || "80"}`;
  return new CommandError(
    `No local platform at ${platform}. Start one with ${ownCommand()} platform${port}, or npm run dev in a bot's folder; --platform URL says where another one is.`,
    { code: "UNREACHABLE" },
  );
}

function noPlatform(platform: string, what: string): CommandError {
  return new CommandError(
    `${platform} ${what}, so it is no local platform, or one of another version. --platform URL says where the right one is.`,
    { code: "UNREACHABLE" },
  );
}

/** Makes an error of the platform's own words. `undefined` for an answer that is not one of its own. */
function refused(answer: unknown, platform: string): CommandError | undefined {
  const { error }: { error?: unknown } = Object(answer);
  const { code, message }: { code?: unknown; message?: unknown } = Object(error);
  if (typeof message !== "string") return undefined;
  if (code === "UNAUTHORIZED") return withoutToken(platform);
  return new CommandError(printable(message), {
    code: typeof code === "string" ? code : undefined,
  });
}

function withoutToken(platform: string): CommandError {
  return new CommandError(
    `The platform at ${platform} needs its control token. Run this in the folder where it was started, which has ` +
      `${controlFileOf(platform)}, or below. Elsewhere set ${CONTROL_TOKEN_VARIABLE}, or give the address that it ` +
      "printed for its portal: --platform URL#token=TOKEN.",
    { code: "UNAUTHORIZED" },
  );
}
