import type { Http } from "./http.ts";
import { userPath } from "./paths.ts";
import { read } from "./reading.ts";
import { profile } from "./schemas.ts";
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
  async get(username: string, options: CallOptions = {}): Promise<Profile> {
    return await read(this.#http, userPath(username.replace(/^@/, "")), profile, options);
  }
}
