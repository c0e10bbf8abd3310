import type { IncomingMessage } from "node:http";
import { tokenProblem } from "../../core/access.ts";
import { hostOf, loopbackNames, normalHost } from "../../core/hosts.ts";
import { refusal, unavailable } from "./answers.ts";
import type { AcceptedToken, TokenCheck } from "./token-registry.ts";

/** A request that may come in. */
export interface Admitted extends AcceptedToken {
  readonly token: string;
}

export interface AdmissionOptions {
  /** Whether a request is for this server. */
  readonly isOurs: (request: IncomingMessage) => boolean;
  readonly checkToken: (token: string) => Promise<TokenCheck>;
}

/**
 * Decides by its headers whether a request may come in. It must name this server, come from no foreign web page, and
 * carry a token that the platform knows.
 */
export class Admission {
  readonly #options: AdmissionOptions;

  constructor(options: AdmissionOptions) {
    this.#options = options;
  }

  /** Identifies the bot of a request. @returns the refusal otherwise */
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
    const check = await this.#options.checkToken(token);
    switch (check.answer) {
      case "accepted":
        return { ...check, token };
      case "refused":
        return refusal(401, "The platform does not know this bearer token: check it.", {
          "WWW-Authenticate": 'Bearer error="invalid_token"',
        });
      case "undecided":
        return unavailable(
          "The platform cannot say now whether it knows this token: try again.",
          check.retryAfterMs,
        );
      case "busy":
        return unavailable(
          "Too many unfamiliar tokens are being checked: try again.",
          check.retryAfterMs,
        );
    }
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

/** Extracts the token of a request. @returns `undefined` if there is none, or one that cannot be */
function bearerOf({ headers }: IncomingMessage): string | undefined {
  const token = /^Bearer +(\S+)$/i.exec(headers.authorization ?? "")?.[1];
  return token === undefined || tokenProblem(token) !== undefined ? undefined : token;
}
