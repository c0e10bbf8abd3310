import { outOfRange, refuseProblems } from "../core/ranges.ts";
import { ServiceBotError } from "../errors.ts";
import type { Page, PageOptions } from "./types.ts";

/** Pages without items in a row that are followed; a listing that is filtered may have some. */
const MAX_EMPTY_PAGES = 100;

/** Reads the page that begins at a cursor; undefined is the first. */
export type ReadPage<T> = (cursor: string | undefined) => Promise<Page<T>>;

/**
 * A listing of the platform: awaited it is one page, iterated it is every item, page after page, as far as
 * the loop goes. Nothing is asked for before that, and what it was made with is looked at then: an id or a `limit`
 * that cannot be rejects, as everything else does.
 *
 *     const { items, nextCursor } = await client.dms.messages(id);
 *     for await (const message of client.dms.messages(id)) { … }
 *     for await (const page of client.dms.messages(id).pages()) { … }
 */
export class Listing<T> implements Promise<Page<T>>, AsyncIterable<T> {
  readonly [Symbol.toStringTag] = "Listing";
  readonly #read: ReadPage<T>;
  readonly #from: string | undefined;
  readonly #request: () => string;
  #first: Promise<Page<T>> | undefined;

  /** @param request what it is called in errors */
  constructor(read: ReadPage<T>, from: string | undefined, request: () => string) {
    this.#read = read;
    this.#from = from;
    this.#request = request;
  }

  /** The first page, asked for once. */
  // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page.
  then<R = Page<T>, E = never>(
    onPage?: ((page: Page<T>) => R | PromiseLike<R>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    this.#first ??= this.#read(this.#from);
    return this.#first.then(onPage, onError);
  }

  /** As of a promise. */
  catch<E = never>(
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<Page<T> | E> {
    return this.then(null, onError);
  }

  /** As of a promise. */
  finally(onEnd?: (() => void) | null): Promise<Page<T>> {
    return this.then().finally(onEnd);
  }

  /** Page after page, asked for anew. */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    const trail = new Trail(this.#request());
    let cursor = this.#from;
    for (;;) {
      const page = await this.#read(cursor);
      yield page;
      if (page.nextCursor === null) return;
      trail.follow(page.nextCursor, page.items.length);
      cursor = page.nextCursor;
    }
  }

  /** Item after item; the next page is asked for when the loop gets there. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }
}

/** @throws {ServiceBotError} INVALID_OPTION: the platform takes 1 to 50 (section 8) */
export function checkLimit({ limit }: Pick<PageOptions, "limit">): void {
  refuseProblems([outOfRange("limit", limit, { min: 1, max: 50, whole: true })]);
}

/** Notices cursors that lead round in a circle, or on and on to nothing, in little memory (Brent's way). */
class Trail {
  readonly #request: string;
  #landmark: string | undefined;
  #steps = 0;
  #span = 1;
  #empty = 0;

  constructor(request: string) {
    this.#request = request;
  }

  /** @throws {ServiceBotError} API_INVALID_RESPONSE */
  follow(cursor: string, items: number): void {
    if (cursor === this.#landmark)
      this.#endless("the cursor of a page leads back to one before it");
    this.#steps += 1;
    if (this.#steps === this.#span) {
      this.#landmark = cursor;
      this.#steps = 0;
      this.#span *= 2;
    }
    this.#empty = items === 0 ? this.#empty + 1 : 0;
    if (this.#empty > MAX_EMPTY_PAGES) {
      this.#endless(`${MAX_EMPTY_PAGES} pages in a row were empty, each with a further cursor`);
    }
  }

  #endless(what: string): never {
    const message = `${this.#request}: the listing has no end: ${what}.`;
    throw new ServiceBotError("API_INVALID_RESPONSE", message);
  }
}
