import { readOutgoing } from "../client/arguments.ts";
import type { Client } from "../client/client.ts";
import { checkId } from "../client/request.ts";
import type { OutgoingMessage } from "../client/resources.ts";
import type { Logger } from "../core/logger.ts";
import { traceIdOf } from "../core/trace.ts";
import { noteTexts } from "../events/parse.ts";
import type { AnyEvent } from "../events/types.ts";
import { commentStep, postStep, replyStep, uploadStep } from "../steps/writes.ts";
import type { Context } from "./context.ts";
import { findPeer, latestMessages } from "./conversation.ts";
import { createEffects, type EffectsContext, type EffectsRun } from "./effects.ts";
import { createTypeGuard } from "./event-types.ts";
import { readMessage } from "./message.ts";
import { contextCall } from "./pending-tasks.ts";
import { RunWrites, type WritingRun } from "./run-writes.ts";

/** The run that a context belongs to. */
export interface ContextRun extends WritingRun, EffectsRun {}

/** Creates the context for one run. */
export function createContext(run: ContextRun): Context {
  return new RunContext(run);
}

/**
 * A context that creates its methods when a handler asks for them, because a handler needs only a few. The methods also
 * work when detached.
 */
class RunContext implements Omit<Context, "is"> {
  readonly event: AnyEvent;
  readonly payload: AnyEvent["payload"];
  readonly attempt: number;
  readonly source: Context["source"];
  readonly late: boolean;
  readonly trace: string | undefined;
  readonly client: Client;
  readonly #run: ContextRun;
  #madeWrites: RunWrites | undefined;
  #madeEffects: EffectsContext | undefined;
  #message: ReturnType<Context["message"]> | undefined;
  #peer: ReturnType<Context["peer"]> | undefined;

  constructor(run: ContextRun) {
    const { event, claim } = run.job;
    this.event = event;
    this.payload = event.payload;
    this.attempt = claim.attempt;
    this.source = claim.source;
    this.late = claim.late;
    this.trace = traceIdOf(claim.trace);
    this.client = run.client;
    this.#run = run;
  }

  get log(): Logger {
    return this.#run.job.log;
  }

  get signal(): AbortSignal {
    return this.#run.job.signal;
  }

  get is(): Context["is"] {
    const guard = createTypeGuard({
      event: this.event,
      handledTypes: () => this.#run.handledTypes,
      setPayload: (payload) => void Object.assign(this, { payload }),
    });
    return guard as Context["is"];
  }

  get reply(): Context["reply"] {
    return (message, options) =>
      this.#writes.write("reply", options, (name, scope) =>
        replyStep(name, this.event, outgoingOf(message), scope),
      );
  }

  get comment(): Context["comment"] {
    return (postId, message, options) =>
      this.#writes.write("comment", options, (name, scope) => {
        checkId("postId", postId);
        return commentStep(name, postId, outgoingOf(message), scope);
      });
  }

  get post(): Context["post"] {
    return (message, options) =>
      this.#writes.write("post", options, (name, scope) =>
        postStep(name, outgoingOf(message), scope),
      );
  }

  get upload(): Context["upload"] {
    return (image, options) =>
      this.#writes.write("upload", options, (name, scope) => uploadStep(name, image, scope));
  }

  get step(): Context["step"] {
    return (name, fn, options) => this.#writes.step(name, fn, options);
  }

  get state(): Context["state"] {
    return this.#effects.state;
  }

  get clearState(): Context["clearState"] {
    return this.#effects.clearState;
  }

  get later(): Context["later"] {
    return this.#effects.later;
  }

  get cancel(): Context["cancel"] {
    return this.#effects.cancel;
  }

  get messages(): Context["messages"] {
    return (options) =>
      contextCall(() => latestMessages(this.client, this.event, this.signal, options));
  }

  get text(): Context["text"] {
    return () => contextCall(async () => (await this.message())?.text ?? "");
  }

  get message(): Context["message"] {
    return () => {
      this.#message ??= contextCall(async () => {
        const message = await readMessage(this.client, this.event, this.signal);
        if (message !== undefined) noteTexts(this.event, [message.text]);
        return message;
      });
      return this.#message;
    };
  }

  get peer(): Context["peer"] {
    return () => {
      this.#peer ??= contextCall(() => findPeer(this.client, this.event, this.signal));
      return this.#peer;
    };
  }

  get #writes(): RunWrites {
    this.#madeWrites ??= new RunWrites(this.#run);
    return this.#madeWrites;
  }

  get #effects(): EffectsContext {
    this.#madeEffects ??= createEffects(this.#run);
    return this.#madeEffects;
  }
}

function outgoingOf(message: string | OutgoingMessage): OutgoingMessage {
  return readOutgoing(typeof message === "string" ? { text: message } : message);
}
