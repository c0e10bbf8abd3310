import type { Clock } from "../../core/clock.ts";
import { appNamed } from "../apps/accounts.ts";
import type { Publisher } from "../events/publisher.ts";
import { usernameIn } from "../input-rules.ts";
import type { Store } from "../store/store.ts";
import type { Created } from "../timeline/entries.ts";
import type { Act, Outcome } from "./act.ts";
import { attachImages } from "./act.ts";
import { type ActInput, type ActResult, type ActType, checkAct, isActType } from "./input.ts";
import {
  commentOnPost,
  followBot,
  inventedEvent,
  likeContent,
  mentionBot,
  quotePost,
  replyToComment,
  repostPost,
  sendMessage,
  writePost,
} from "./performers.ts";

const performers: { readonly [T in ActType]: (act: Act) => Outcome } = {
  post: writePost,
  "dm.message": sendMessage,
  mention: mentionBot,
  comment: commentOnPost,
  reply: replyToComment,
  follow: followBot,
  like: likeContent,
  repost: repostPost,
  quote: quotePost,
};

export interface ActsOptions {
  readonly store: Store;
  readonly publisher: Publisher;
  readonly clock: Clock;
}

/** Acts of people, and acts of bots that the API does not offer. */
export class Acts {
  readonly #options: ActsOptions;

  constructor(options: ActsOptions) {
    this.#options = options;
  }

  /**
   * Lets somebody do something, once or `count` times, in one transaction.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG, INVALID_IMAGE_KEY; 403 BLOCKED; 404 NOT_FOUND
   */
  perform(input: ActInput): ActResult {
    checkAct(input);
    const username = usernameIn(input.from, "from");
    const { store, publisher, clock } = this.#options;
    const { result, events } = publisher.transaction((write) => {
      const from = store.people.named(username);
      const to = input.to === undefined ? undefined : appNamed(store, input.to, "to");
      let concerns: Created = {};
      for (let time = 0; time < (input.count ?? 1); time += 1) {
        concerns = once({ store, write, from, to, input, at: clock.now() });
      }
      return concerns;
    });
    return { events, ...result };
  }
}

function once(act: Act): Created {
  const { type } = act.input;
  const { concerns, made } = (isActType(type) ? performers[type] : inventedEvent)(act);
  if (made !== undefined) attachImages(act, made);
  return concerns;
}
