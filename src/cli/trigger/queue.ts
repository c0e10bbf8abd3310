/** An event that the bot has still to answer. */
export interface Unanswered {
  readonly id: string;
  /** Milliseconds since 1970, on the platform's clock. */
  readonly at: number;
  /** Of a type that bots rarely answer. */
  readonly quiet: boolean;
}

/**
 * The events without an answer, for each place in the order in which they happened: the API does not say what
 * a bot answers, and bots answer what is said in one place in turn.
 */
export class AnswerQueue {
  readonly #places = new Map<string, Unanswered[]>();

  add(event: Unanswered, places: Iterable<string>): void {
    for (const place of places) this.#places.set(place, [...this.#at(place), event]);
  }

  /** Takes out the event that something written here answers. */
  take(place: string): Unanswered | undefined {
    const events = this.#at(place);
    const answered = events.find(({ quiet }) => !quiet) ?? events[0];
    if (answered !== undefined) this.drop((event) => event === answered);
    return answered;
  }

  drop(old: (event: Unanswered) => boolean): void {
    for (const [place, events] of this.#places) {
      this.#places.set(
        place,
        events.filter((event) => !old(event)),
      );
    }
  }

  #at(place: string): readonly Unanswered[] {
    return this.#places.get(place) ?? [];
  }
}
