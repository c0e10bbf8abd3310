import { randomUUID } from "node:crypto";
import type { Clock } from "../../core/clock.ts";
import { MAX_MESSAGE_BYTES } from "../limits.ts";
import {
  type AuthInfo,
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
const MOST = 1_000;

/** and so many of one token: a further one ends the oldest. */
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
  /** A server for a session that begins. */
  readonly build: (auth: AuthInfo) => Server;
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

  get size(): number {
    return this.#sessions.size;
  }

  /** Serves a request in its session, or in the one that it begins. */
  async handle(request: Request, auth: AuthInfo): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return await this.#begin(request, auth);
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
  async #begin(request: Request, auth: AuthInfo): Promise<Response> {
    if (this.#sessions.size >= MOST) {
      const message = `There are ${MOST} sessions already: try again later.`;
      return refusal(503, message, { "Retry-After": "60" });
    }
    const { build, onError } = this.#options;
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      eventStore: new RecentMessages(),
      maxRequestBodySize: MAX_MESSAGE_BYTES,
      onsessioninitialized: (id) => this.#add(id, transport, auth.clientId),
    });
    const server = build(auth);
    server.onerror = onError;
    await server.connect(transport);
    const { onclose } = transport;
    transport.onclose = () => {
      onclose?.();
      if (transport.sessionId !== undefined) this.#sessions.delete(transport.sessionId);
    };
    const response = await transport.handleRequest(request, { authInfo: auth });
    if (transport.sessionId === undefined) await transport.close();
    return response;
  }

  #add(id: string, transport: Transport, owner: string): void {
    const now = this.#options.clock.now();
    this.#sessions.set(id, { id, transport, owner, streams: 0, usedAt: now });
    this.#lookLater();
    const own = [...this.#sessions.values()].filter((session) => session.owner === owner);
    if (own.length > MOST_OF_ONE) void own[0]?.transport.close();
  }

  #use(session: Session, request: Request): void {
    session.usedAt = this.#options.clock.now();
    if (request.method !== "GET") return;
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
