import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import type { Access } from "../access.ts";
import { MAX_MESSAGE_BYTES } from "../limits.ts";
import {
  type AuthInfo,
  type JSONRPCMessage,
  ProtocolErrorCode,
  type Server,
  WebStandardStreamableHTTPServerTransport as Transport,
} from "../sdk.ts";
import { refusal } from "./answers.ts";
import { RecentMessages } from "./event-store.ts";

/** A session that nobody uses ends after this, in milliseconds. */
const IDLE_MS = 30 * 60_000;

/** So often it is looked for those, in milliseconds. */
const LOOK_MS = 60_000;

/** So many sessions there are at most, */
const MOST = 500;

/** and so many of one token. A further one ends the one that nobody has used for longest. */
const MOST_OF_ONE = 50;

interface Session {
  readonly id: string;
  readonly transport: Transport;
  /** The fingerprint of the token that it began with: to everybody else it does not exist. */
  readonly owner: string;
  /** Streams that a client holds open. */
  streams: number;
  usedAt: number;
}

export interface SessionsOptions {
  readonly clock: Clock;
  /** A server for a session that begins, of a token of which this is known. */
  readonly build: (access: Access) => Server;
  readonly onError: (error: Error) => void;
}

/** The sessions of clients that speak a protocol of 2025, where a connection has a beginning and an end. */
export class Sessions {
  readonly #options: SessionsOptions;
  /** In the order in which they began. */
  readonly #sessions = new Map<string, Session>();
  #cancel: (() => void) | undefined;

  constructor(options: SessionsOptions) {
    this.#options = options;
  }

  /** Serves a request in its session, or in the one that it begins. */
  async handle(request: Request, auth: AuthInfo, access: Access): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return await this.#begin(request, auth, access);
    const session = this.#sessions.get(id);
    if (session === undefined || session.owner !== auth.clientId) {
      return refusal(404, "There is no such session (any more): begin a new one.", {}, -32_001);
    }
    this.#use(session, request);
    return await session.transport.handleRequest(request, { authInfo: auth });
  }

  async close(): Promise<void> {
    this.#cancel?.();
    await Promise.all([...this.#sessions.values()].map(({ transport }) => transport.close()));
  }

  /** The transport itself refuses what does not begin a session. */
  async #begin(request: Request, auth: AuthInfo, access: Access): Promise<Response> {
    const transport = await this.#open(auth.clientId, access);
    const response = await transport.handleRequest(request, { authInfo: auth });
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  /** What lives as long as the session knows no token: each request brings its own. */
  async #open(owner: string, access: Access): Promise<Transport> {
    const { build, onError } = this.#options;
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      eventStore: new RecentMessages(),
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      onsessioninitialized: (id) => this.#add(id, transport, owner),
    });
    const server = build(access);
    server.onerror = onError;
    await server.connect(transport);
    const { onclose, onmessage } = transport;
    transport.onclose = () => {
      onclose?.();
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    transport.onmessage = (message, extra) => {
      onmessage?.(message, extra);
      endStreamOfCancelled(transport, message);
    };
    return transport;
  }

  #add(id: string, transport: Transport, owner: string): void {
    const now = this.#options.clock.now();
    this.#sessions.set(id, { id, transport, owner, streams: 0, usedAt: now });
    this.#lookLater();
    const all = [...this.#sessions.values()].filter((session) => session.id !== id);
    const own = all.filter((session) => session.owner === owner);
    if (own.length >= MOST_OF_ONE) void leastUsed(own)?.transport.close();
    else if (all.length >= MOST) void leastUsed(all)?.transport.close();
  }

  #use(session: Session, request: Request): void {
    session.usedAt = this.#options.clock.now();
    if (request.method !== "GET" || request.signal.aborted) return;
    session.streams += 1;
    request.signal.addEventListener(
      "abort",
      () => {
        session.streams -= 1;
        session.usedAt = this.#options.clock.now();
      },
      { once: true },
    );
  }

  #lookLater(): void {
    const { clock } = this.#options;
    this.#cancel ??= clock.timer(
      LOOK_MS,
      () => {
        this.#cancel = undefined;
        const now = clock.now();
        for (const { streams, usedAt, transport } of this.#sessions.values()) {
          if (streams === 0 && now - usedAt >= IDLE_MS) void transport.close();
        }
        if (this.#sessions.size > 0) this.#lookLater();
      },
      { background: true },
    );
  }
}

/** The one that nobody has used for longest; those whose clients hold streams come last. */
function leastUsed(sessions: readonly Session[]): Session | undefined {
  return sessions.toSorted((a, b) => a.streams - b.streams || a.usedAt - b.usedAt)[0];
}

/**
 * A call that was cancelled gets no answer, and so its stream would stay open for as long as the session: an error
 * that its client drops ends it.
 */
function endStreamOfCancelled(transport: Transport, message: JSONRPCMessage): void {
  if (!("method" in message) || message.method !== "notifications/cancelled") return;
  const id = message.params?.requestId;
  if (typeof id !== "string" && typeof id !== "number") return;
  const error = { code: ProtocolErrorCode.InvalidRequest, message: "The call was cancelled." };
  // Where it was answered before, there is nothing to end.
  transport.send({ jsonrpc: "2.0", id, error }).catch(() => undefined);
}
