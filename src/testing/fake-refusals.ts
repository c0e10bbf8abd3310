import { type OptionNames, refuseProblems, unknownOptions } from "../core/ranges.ts";
import type { PlatformCode } from "../errors.ts";
import { Refusal } from "./fake-answers.ts";

/** Which calls are to be refused, and how. */
export interface RefuseOptions {
  /** A code of section 7 of the platform document, or one that is newer. */
  readonly code: PlatformCode | (string & Record<never, never>);
  /** Default: the status of the code in section 7; 400 for another code. */
  readonly status?: number;
  /** Sent as `Retry-After`. */
  readonly retryAfterSeconds?: number;
  /** `GET` or `POST`. Without method and path: the calls that can be answered with the code. */
  readonly method?: string;
  /** As in `calls`; `*` stands for any id: `/dm/conversations/*` + `/messages`. */
  readonly path?: string;
  /** How many calls. Default 1; `Infinity` for all from now on. */
  readonly times?: number;
}

const OPTIONS: OptionNames<RefuseOptions> = {
  code: true,
  status: true,
  retryAfterSeconds: true,
  method: true,
  path: true,
  times: true,
};

/** A call, as far as it matters here. */
export interface Place {
  readonly method: string;
  readonly path: string;
  /** The path with `*` for its id. */
  readonly shape: string;
}

type Fits = (place: Place) => boolean;

const anything: Fits = () => true;
const write: Fits = ({ method }) => method === "POST";
const upload: Fits = ({ shape }) => shape === "/uploads";
const content: Fits = (place) => write(place) && !upload(place);

/**
 * The codes with their status and where they can come. A bot also asks for what no test thinks of, such as the time:
 * that must not use up a refusal. What section 7 says of direct messages alone is taken to hold for posts and
 * comments, too, so that whatever a handler writes can be refused.
 */
const codes: { readonly [C in PlatformCode]: readonly [status: number, where: Fits] } = {
  BLOCKED_HOST: [400, upload],
  NOT_IMAGE: [400, upload],
  TOO_LARGE: [400, upload],
  VALIDATION: [400, write],
  INVALID_IMAGE_KEY: [400, content],
  TOO_MANY_IMAGES: [400, content],
  GROUP_UNSUPPORTED: [400, content],
  EMPTY: [400, content],
  TOO_LONG: [400, content],
  AGENT_SCOPE_MISSING: [403, (place) => write(place) || place.shape.startsWith("/dm/")],
  BLOCKED: [403, content],
  NOT_FOUND: [404, ({ shape }) => shape.includes("*")],
  QUOTA_EXCEEDED: [429, write],
  NOT_CONFIGURED: [503, upload],
};

/** The refusals that a test has asked for. */
export class FakeRefusals {
  readonly #waiting: { readonly fits: Fits; readonly refusal: Refusal; left: number }[] = [];

  /** @throws {ServiceBotError} INVALID_OPTION */
  add(options: RefuseOptions): void {
    refuseProblems(unknownOptions(options, OPTIONS));
    const { code, status, retryAfterSeconds, method, path, times = 1 } = options;
    const [usual, where] = Object.hasOwn(codes, code)
      ? codes[code as PlatformCode]
      : ([400, anything] as const);
    const named: Fits = (place) =>
      (method === undefined || method === place.method) &&
      (path === undefined || path === place.path || path === place.shape);
    const message = "The test has asked for this.";
    this.#waiting.push({
      fits: method === undefined && path === undefined ? where : named,
      refusal: new Refusal(status ?? usual, code, message, retryAfterSeconds),
      left: times,
    });
  }

  /** @throws {Refusal} the first that waits for such a call */
  check(place: Place): void {
    const found = this.#waiting.find(({ left, fits }) => left > 0 && fits(place));
    if (found === undefined) return;
    found.left -= 1;
    throw found.refusal;
  }
}
