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
} from "../platform/index.ts";
import { CommandError } from "./usage.ts";

/** Calls `/control/v1` of a local platform in another process. Every method rejects with a `CommandError`. */
export class ControlClient {
  readonly #platform: string;

  /** @param platform its origin */
  constructor(platform: string) {
    this.#platform = platform.replace(/\/+$/, "");
  }

  act(input: ActInput): Promise<ActResult> {
    return this.#request("POST", "/act", input);
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
    return this.#request("PUT", "/webhook", change);
  }

  setFaults(change: FaultsChange): Promise<FaultsState> {
    return this.#request("PUT", "/faults", change);
  }

  /** Delivers these events now, whatever became of them before. */
  async deliver(input: DeliverInput): Promise<readonly DeliverResult[]> {
    type Answer = { readonly deliveries: readonly DeliverResult[] };
    const { deliveries } = await this.#request<Answer>("POST", "/deliveries", input);
    return deliveries;
  }

  /** What happened after an entry; waits up to `waitMs` milliseconds for something. */
  timeline(after: number, waitMs: number): Promise<TimelinePage> {
    return this.#request("GET", `/timeline?after=${after}&waitMs=${Math.floor(waitMs)}`);
  }

  /** Both ends are of one version, so an answer has the shape that the platform's own types say. */
  async #request<T>(method: string, path: string, body?: object): Promise<T> {
    const url = `${this.#platform}/control/v1${path}`;
    const init = body === undefined ? {} : { body: JSON.stringify(body) };
    const headers = { "content-type": "application/json" };
    let response: Response;
    try {
      response = await fetch(url, { method, headers, ...init });
    } catch {
      throw new CommandError(
        `Nothing listens on ${this.#platform}. Is the local platform running? npm run dev, or service-bot platform`,
      );
    }
    const answer = await response.json().catch(() => undefined);
    if (response.ok && answer !== undefined) return answer as T;
    throw new CommandError(
      complaint(answer) ?? `${url} answered ${response.status}: no local platform?`,
    );
  }
}

/** A part of the timeline; `last` is where the next part begins. */
export interface TimelinePage {
  readonly entries: readonly TimelineEntry[];
  readonly last: number;
}

function complaint(answer: unknown): string | undefined {
  const { error }: { error?: { message?: string } } = Object(answer);
  return error?.message;
}
