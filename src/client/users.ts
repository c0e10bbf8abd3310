import type { Http } from "./http.ts";
import { userPath } from "./paths.ts";
import { check, profile } from "./schemas.ts";
import type { CallOptions, Profile } from "./types.ts";

/** People and bots. */
export class Users {
  readonly #http: Http;

  constructor(http: Http) {
    this.#http = http;
  }

  /**
   * The profile behind a user name, with or without its @. Scope: `read`. The fields are not documented.
   *
   * @throws {NotFoundError} NOT_FOUND
   */
  async get(username: string, { signal }: CallOptions = {}): Promise<Profile> {
    const path = userPath(username.replace(/^@/, ""));
    const { body } = await this.#http.request("GET", path, { signal });
    return check(profile, body, `GET ${path}`);
  }
}
