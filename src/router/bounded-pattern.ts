import { type Context, createContext, Script } from "node:vm";
import { cpuTimeMs } from "../core/cpu-time.ts";
import { hasCode, ServiceBotError } from "../errors.ts";
import { costOf, longestText } from "./regexp/cost.ts";

/** Steps that a match may take without a time limit. V8 takes 5 to 50 ms for them. */
const MAX_UNTIMED_STEPS = 2_000_000;

/** Time limit for a match, in ms. All other events wait for the match. */
const MATCH_TIMEOUT_MS = 100;

/** On a busy machine, a match may reach the time limit without having run. It then gets twice the time. */
const MAX_TRIES = 4;

/** Degree from which a message of a thousand characters may reach the time limit. */
const SLOW_DEGREE = 3;

/** A larger factor means a number of steps that doubles with each of many parts of the expression. */
const MAX_FACTOR = 1e9;

/**
 * Matches a bot author's regular expression within a time limit, because a user's text may make an expression take
 * hours. The limit costs about 120 us, so it applies only to texts for which the expression may be slow.
 *
 * A linear engine would match differently. In re2js (151 kB, 6 MB of memory), white space, line ends, case and groups
 * inside repetitions differ. V8's own linear engine is experimental, is enabled for the whole process, and does not
 * support the flags i, u, v and d.
 */
export class BoundedPattern {
  /** True if an ordinary message may reach the time limit. */
  readonly isSlow: boolean;
  readonly #expression: RegExp;
  readonly #what: string;
  /** In characters. */
  readonly #maxUntimedLength: number;
  readonly #timeoutMs: number;

  /** @param what names the expression in the error */
  constructor(expression: RegExp, what: string, timeoutMs: number = MATCH_TIMEOUT_MS) {
    const cost = costOf(expression);
    this.isSlow = cost.degree >= SLOW_DEGREE || !(cost.factor <= MAX_FACTOR);
    this.#expression = expression;
    this.#what = what;
    this.#maxUntimedLength = longestText(cost, MAX_UNTIMED_STEPS);
    this.#timeoutMs = timeoutMs;
  }

  /** @throws {ServiceBotError} PATTERN_TIMEOUT */
  exec(text: string): RegExpExecArray | null {
    if (text.length <= this.#maxUntimedLength) return this.#expression.exec(text);
    const match = () => this.#expression.exec(text);
    const timeoutMs = this.#timeoutMs;
    for (let tries = 1; ; tries++) {
      const before = cpuTimeMs();
      try {
        return withTimeout(match, timeoutMs * 2 ** (tries - 1));
      } catch (error) {
        if (!hasCode(error, "ERR_SCRIPT_EXECUTION_TIMEOUT")) throw error;
        const hasRun = cpuTimeMs() - before >= timeoutMs / 2;
        if (hasRun || tries === MAX_TRIES) throw this.#tookTooLong(text);
      }
    }
  }

  #tookTooLong({ length }: string): ServiceBotError {
    return new ServiceBotError(
      "PATTERN_TIMEOUT",
      `${this.#what} took longer than ${this.#timeoutMs} ms for a text of ${length} characters. ` +
        "Simplify the expression: avoid repetitions inside repetitions.",
    );
  }
}

interface Sandbox {
  readonly context: Context;
  readonly script: Script;
}

let sandbox: Sandbox | undefined;

/** Runs `work`, and ends it after the time limit. Only a script of `node:vm` can be ended, so a script calls `work`. */
function withTimeout<T>(work: () => T, timeout: number): T {
  sandbox ??= { context: createContext({}), script: new Script("work()") };
  const { context, script } = sandbox;
  context["work"] = work;
  try {
    return script.runInContext(context, { timeout });
  } finally {
    context["work"] = undefined;
  }
}
