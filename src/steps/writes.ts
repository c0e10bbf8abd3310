import type { Client } from "../client/client.ts";
import type {
  ImageInput,
  OutgoingMessage,
  Sent,
  SentComment,
  SentPost,
  Upload,
} from "../client/resources.ts";
import type { Jsonify } from "../core/jsonify.ts";
import { type OptionNames, refuseProblems, unknownOptions } from "../core/ranges.ts";
import type { AnyEvent } from "../events/types.ts";
import type { Job } from "./job.ts";
import type { PendingTasks } from "./pending-tasks.ts";
import type { Step } from "./step.ts";
import { commentStep, postStep, replyStep, uploadStep, type WriteScope } from "./write-steps.ts";

/** Options of `ctx.reply`, `ctx.comment`, `ctx.post` and `ctx.upload`. */
export interface WriteOptions {
  /**
   * Names the write, in the place of its number. A write with another key than in an earlier run is made in any case.
   * 1 to 100 characters, without control characters. It appears in the log and in `service-bot inbox show`.
   */
  readonly key?: string | undefined;
}

/** How `ctx.step` treats a step of which it is not known whether it took effect. */
export interface StepOptions {
  /** True when doing it twice does no harm: it is then run again instead of parking the event. */
  readonly repeatable?: boolean;
}

/** The result of a write that is not repeated when the handler is retried. */
export type WriteResult<T> = T & {
  /** True when an earlier run of the handler made the write, and this run sent nothing. */
  readonly repeated: boolean;
};

type WriteKind = "reply" | "comment" | "post" | "upload";

const WRITE_OPTIONS: OptionNames<WriteOptions> = { key: true };
const STEP_OPTIONS: OptionNames<StepOptions> = { repeatable: true };

/** No control or invisible character, and no half of one. */
const KEY = /^[^\p{Cc}\p{Cf}\p{Cs}]{1,100}$/u;

/** Writes and steps of one run of a handler. Every one belongs to the run, and errors of its options reject. */
export class Writes {
  readonly #job: Job<AnyEvent>;
  readonly #client: Client;
  readonly #tasks: PendingTasks;
  readonly #counts = { reply: 0, comment: 0, post: 0, upload: 0 };

  constructor(job: Job<AnyEvent>, client: Client, tasks: PendingTasks) {
    this.#job = job;
    this.#client = client;
    this.#tasks = tasks;
  }

  reply(message: string | OutgoingMessage, options: WriteOptions = {}): Promise<WriteResult<Sent>> {
    const name = this.#nextName("reply", options);
    const { event } = this.#job;
    return this.#write(options, (scope) => replyStep(name, event, outgoingOf(message), scope));
  }

  comment(
    postId: string,
    message: string | OutgoingMessage,
    options: WriteOptions = {},
  ): Promise<WriteResult<SentComment>> {
    const name = this.#nextName("comment", options);
    return this.#write(options, (scope) => commentStep(name, postId, outgoingOf(message), scope));
  }

  post(
    message: string | OutgoingMessage,
    options: WriteOptions = {},
  ): Promise<WriteResult<SentPost>> {
    const name = this.#nextName("post", options);
    return this.#write(options, (scope) => postStep(name, outgoingOf(message), scope));
  }

  upload(image: ImageInput, options: WriteOptions = {}): Promise<WriteResult<Upload>> {
    const name = this.#nextName("upload", options);
    return this.#tasks.start(async () => {
      checkWriteOptions(options);
      return await this.#run(uploadStep(name, image, this.#scope()));
    });
  }

  /** Runs a step of the handler's own. Every run gets the result as it is recorded. */
  step<R>(name: string, fn: () => Promise<R> | R, options: StepOptions = {}): Promise<Jsonify<R>> {
    return this.#tasks.start(async () => {
      refuseProblems(unknownOptions(options, STEP_OPTIONS));
      const { result } = await this.#job.steps.run({
        name: `step/${name}`,
        run: async () => ({ result: (await fn()) as Jsonify<R> }),
        repeatable: options.repeatable ?? false,
      });
      return result;
    });
  }

  #write<R extends { readonly id?: string | undefined }>(
    options: WriteOptions,
    describe: (scope: WriteScope) => Step<R>,
  ): Promise<WriteResult<R>> {
    return this.#tasks.start(async () => {
      checkWriteOptions(options);
      const step = describe(this.#scope());
      // Dates the intent by the platform's clock. By the bot's, a search after a crash would go back for minutes.
      await this.#client.syncClock();
      return await this.#run(step);
    });
  }

  async #run<R>(step: Step<R>): Promise<WriteResult<R>> {
    const { result, outcome } = await this.#job.steps.run(step);
    return { ...result, repeated: outcome !== "made" };
  }

  #scope(): WriteScope {
    return { client: this.#client, signal: this.#job.signal };
  }

  /** `reply/1`, or `reply/key:sorry` with the key `sorry`. Numbered calls keep two replies with one text apart. */
  #nextName(kind: WriteKind, { key }: WriteOptions): string {
    if (key !== undefined) return `${kind}/key:${key}`;
    this.#counts[kind] += 1;
    return `${kind}/${this.#counts[kind]}`;
  }
}

/** A text alone is a message without images. */
function outgoingOf(message: string | OutgoingMessage): OutgoingMessage {
  return typeof message === "string" ? { text: message } : message;
}

/** @throws {ServiceBotError} INVALID_OPTION */
function checkWriteOptions(options: WriteOptions): void {
  const { key } = options;
  const isValid = key === undefined || (typeof key === "string" && KEY.test(key));
  const problem = isValid
    ? undefined
    : "key must be a text of 1 to 100 characters without control characters";
  refuseProblems([...unknownOptions(options, WRITE_OPTIONS), problem]);
}
