import type { Observer } from "../core/observer.ts";
import { Calls } from "./calls.ts";
import { Handling } from "./handling.ts";
import { Intake } from "./intake.ts";
import { Log } from "./log.ts";
import { Looks } from "./looks.ts";
import { processRegistry } from "./process.ts";
import { Registry } from "./prom.ts";
import type { Sources } from "./sources.ts";
import { State } from "./state.ts";
import { Store } from "./store.ts";

/** The metrics of one bot. */
export class Meter {
  /** What counts the requests to the platform. */
  readonly calls: Calls;
  /** What the parts of the bot tell what happens. */
  readonly observer: Observer;
  readonly #registry = new Registry();
  /** From the start: what watches the event loop tells what was since it began. */
  readonly #process = processRegistry();
  #state: { readonly state: State; readonly looks: Looks } | undefined;

  /** @param readsLog whether the bot reads the event log */
  constructor(readsLog: boolean) {
    const registry = this.#registry;
    const intake = new Intake(registry);
    const handling = new Handling(registry);
    const store = new Store(registry);
    const log = readsLog ? new Log(registry) : undefined;
    this.calls = new Calls(registry);
    this.observer = {
      answered: safely((...told) => intake.answered(...told)),
      arrived: safely((...told) => intake.arrived(...told)),
      ran: safely((type, outcome, ms) => handling.ran(type, outcome, ms)),
      leaseLost: safely((what) => handling.leaseLost(what)),
      logRead: safely((code) => log?.logRead(code)),
      switched: safely((to) => log?.switched(to)),
      committed: safely((ms) => store.committed(ms)),
      storeFailed: safely((why) => store.storeFailed(why)),
    };
  }

  /** Says what is looked at when somebody asks; before that, what is counted is all that is told. */
  watch(sources: Sources): void {
    this.#state = { state: new State(this.#registry, sources), looks: new Looks(sources.inbox) };
  }

  /** All metrics, and those of the process, in the text format of Prometheus 0.0.4. It never rejects. */
  async text(): Promise<string> {
    const look = await this.#state?.looks.look();
    // Nothing is awaited between the two: another scrape must not tell half of this one.
    this.#state?.state.update(look);
    const texts = await Promise.all([this.#registry.metrics(), this.#process.metrics()]);
    return texts.join("\n");
  }
}

function safely<A extends readonly unknown[]>(count: (...told: A) => void): (...told: A) => void {
  return (...told) => {
    try {
      count(...told);
    } catch {
      // Whoever told it is in the middle of a commit, or of an answer.
    }
  };
}

/** Of what {@link Meter.text} gives. */
export const CONTENT_TYPE: string = Registry.PROMETHEUS_CONTENT_TYPE;
