import type { Clock } from "../../core/clock.ts";
import type { EventType } from "../../events/types.ts";
import { invalid } from "../error.ts";
import type { EventFaults } from "../faults/event-faults.ts";
import type { LoggedEvent } from "../store/event-log.ts";
import type { User } from "../store/people.ts";
import type { Store } from "../store/store.ts";
import { type Created, placeOf } from "../timeline/entries.ts";
import type { Timeline } from "../timeline/timeline.ts";
import {
  commentOnPost,
  followBot,
  likeContent,
  mentionBot,
  quotePost,
  replyToComment,
  repostPost,
} from "./activity.ts";
import { type ActInput, type ActResult, checkAct, usernameIn } from "./input.ts";
import { sendMessage } from "./messages.ts";
import type { Act, Outcome } from "./outcome.ts";
import { attachSamples } from "./sample-image.ts";

const performers: { readonly [T in EventType]: (act: Act) => Outcome } = {
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
  readonly clock: Clock;
  readonly timeline: Timeline;
  readonly eventFaults: EventFaults;
  /** Called when there is something to deliver. */
  readonly onEvents: () => void;
}

interface Happening {
  readonly logged: LoggedEvent;
  readonly outcome: Outcome;
  /** Milliseconds until it is in the log; 0 when it is. */
  readonly lateMs: number;
}

/** What people do. The only source of events: what the bot itself does makes none. */
export class Acts {
  readonly #options: ActsOptions;

  constructor(options: ActsOptions) {
    this.#options = options;
  }

  /**
   * Lets a person do something, once or `count` times, in one transaction.
   *
   * @throws {PlatformError} 400 VALIDATION, EMPTY, TOO_LONG; 403 BLOCKED; 404 NOT_FOUND
   */
  perform(input: ActInput): ActResult {
    checkAct(input);
    const from = usernameIn(input.from, "from");
    const { store, clock, timeline, onEvents } = this.#options;
    const happenings = store.transaction(() => {
      const person = this.#personNamed(from);
      const act = { store, person, bot: store.people.bot(), input };
      return Array.from({ length: input.count ?? 1 }, () =>
        this.#once({ ...act, at: clock.now() }),
      );
    });
    for (const { logged, outcome, lateMs } of happenings) {
      const { id, type, payload } = logged.event;
      const text = outcome.text === undefined ? {} : { text: outcome.text };
      const late = lateMs === 0 ? {} : { lateMs };
      timeline.add({ kind: "event", id, type, from, ...placeOf(payload), ...text, ...late });
    }
    onEvents();
    const concerns: Created = happenings.at(-1)?.outcome.concerns ?? {};
    return { events: happenings.map(({ logged }) => logged.event), ...concerns };
  }

  #once(act: Act): Happening {
    const outcome = performers[act.input.type](act);
    if (outcome.made !== undefined) attachSamples(act, outcome.made);
    const logged = act.store.events.append(outcome.event, act.at);
    const lateMs = this.#options.eventFaults.publish(logged);
    return { logged, outcome, lateMs };
  }

  #personNamed(username: string): User {
    const person = this.#options.store.people.named(username);
    if (person.isBot) throw invalid("from must be a person: the bot's own acts make no events");
    return person;
  }
}
