import type { IncomingMessage } from "node:http";
import type { ScopeAnswer } from "../../client/scopes.ts";
import { tokenProblem } from "../../core/access.ts";
import { hostOf, loopbackNames, normalHost } from "../../core/hosts.ts";
import type { Access } from "../access.ts";
import { refusal } from "./answers.ts";
import { Tokens } from "./tokens.ts";

/** Somebody who may come in. */
export interface Admitted {
  readonly token: string;
  /** By which the same token is known again. */
  readonly fingerprint: string;
  readonly access: Access;
}

export interface AdmissionOptions {
  /** Whether a request is for this server. */
  readonly isOurs: (request: IncomingMessage) => boolean;
  /** Asks the platform whether it knows a token. */
  readonly ask: (token: string) => Promise<ScopeAnswer>;
  readonly newAccess: () => Access;
}

/**
 * Decides by the head of a request whether it may come in: it must be for this server, not from a web page of somebody
 * else, and with a token that the platform knows. That is asked once for each token.
 */
export class Admission {
  readonly #options: AdmissionOptions;
  readonly #tokens = new Tokens();
  readonly #asking = new Map<string, Promise<ScopeAnswer>>();

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Who it is; or the answer that turns them away. */
  async admit(request: IncomingMessage): Promise<Admitted | Response> {
    if (!this.#options.isOurs(request)) {
      return refusal(
        403,
        "This server is not known by that name: start it with --allow-host NAME.",
      );
    }
    if (!isOwnPage(request)) return refusal(403, "This server is not for other web pages.");
    const token = bearerOf(request);
    if (token === undefined) {
      const message = "Send the bot's token: Authorization: Bearer <API_KEY>.";
      return refusal(401, message, { "WWW-Authenticate": "Bearer" });
    }
    const fingerprint = this.#tokens.fingerprint(token);
    const known = this.#tokens.find(fingerprint);
    if (known !== undefined) return { token, fingerprint, access: known };
    switch (await this.#ask(fingerprint, token)) {
      case "refused":
        return refusal(401, "The platform does not know this bearer token: check it.", {
          "WWW-Authenticate": 'Bearer error="invalid_token"',
        });
      case "unknown":
        return refusal(503, "The platform cannot say now whether it knows this token: try again.", {
          "Retry-After": "5",
        });
      default: {
        const access = this.#tokens.find(fingerprint) ?? this.#options.newAccess();
        this.#tokens.add(fingerprint, access);
        return { token, fingerprint, access };
      }
    }
  }

  /** However many come at once with a token, the platform is asked once. */
  #ask(fingerprint: string, token: string): Promise<ScopeAnswer> {
    const asking =
      this.#asking.get(fingerprint) ??
      this.#options.ask(token).finally(() => this.#asking.delete(fingerprint));
    this.#asking.set(fingerprint, asking);
    return asking;
  }
}

/** False for a request that a web page of another host has made. */
function isOwnPage(request: IncomingMessage): boolean {
  const { origin } = request.headers;
  if (origin === undefined) return true;
  const { hostname } = URL.parse(origin) ?? { hostname: "" };
  const name = normalHost(hostname);
  return name !== "" && (loopbackNames.has(name) || name === hostOf(request));
}

/** The token of a request; undefined where there is none that could be. */
function bearerOf({ headers }: IncomingMessage): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return token === undefined || tokenProblem(token) !== undefined ? undefined : token;
}
