import { inspectOptions, refuseProblems } from "../core/option-checks.ts";
import type { Shape } from "../core/shapes.ts";
import { ServiceBotError } from "../errors.ts";
import { PAGE_OPTIONS } from "./arguments.ts";
import type { Http } from "./http.ts";
import type { RequestOptions } from "./request.ts";
import type { Page, PageOptions } from "./resources.ts";

/** Maximum number of empty pages in a row. A filtered listing may contain some empty pages. */
const MAX_EMPTY_PAGES = 100;

export type ReadPage<T> = (cursor: string | undefined) => Promise<Page<T>>;

/**
 * Listing from the platform. `await` returns one page. Iteration returns every item, and requests each page when the
 * loop reaches it. The first use sends the request, and rejects if the id or `limit` is invalid.
 *
 *     const { items, nextCursor } = await client.dms.messages(id);
 *     for await (const message of client.dms.messages(id)) { … }
 *     for await (const page of client.dms.messages(id).pages()) { … }
 */
export class Listing<T> implements Promise<Page<T>>, AsyncIterable<T> {
  readonly [Symbol.toStringTag] = "Listing";
  readonly #read: ReadPage<T>;
  readonly #from: string | undefined;
  readonly #request: string;
  #first: Promise<Page<T>> | undefined;

  /** @param request name of the listing, for error messages */
  constructor(read: ReadPage<T>, from: string | undefined, request: string) {
    this.#read = read;
    this.#from = from;
    this.#request = request;
  }

  /** Resolves to the first page. The page is requested only once. */
  // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page.
  then<R = Page<T>, E = never>(
    onPage?: ((page: Page<T>) => R | PromiseLike<R>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    this.#first ??= this.#read(this.#from);
    return this.#first.then(onPage, onError);
  }

  /** Works as on any promise. */
  catch<E = never>(
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<Page<T> | E> {
    return this.then(null, onError);
  }

  /** Same as `Promise.prototype.finally`, for the first page. */
  finally(onEnd?: (() => void) | null): Promise<Page<T>> {
    return this.then().finally(onEnd);
  }

  /**
   * Iterates over the pages. Each iteration requests every page again.
   *
   * @throws {ServiceBotError} API_INVALID_RESPONSE if the cursors form a cycle, or after 100 empty pages in a row
   */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    // Brent's algorithm finds any cycle in constant memory. It compares each cursor with an earlier cursor, which is
    // replaced after 1, 2, 4, 8… pages.
    let earlier: string | undefined;
    let replaceAt = 1;
    let empty = 0;
    for (let cursor = this.#from, count = 1; ; count++) {
      const page = await this.#read(cursor);
      yield page;
      const { items, nextCursor } = page;
      if (nextCursor === null) return;
      if (nextCursor === earlier) this.#hasNoEnd("a page's cursor points to an earlier page");
      empty = items.length === 0 ? empty + 1 : 0;
      if (empty > MAX_EMPTY_PAGES) {
        this.#hasNoEnd(`${MAX_EMPTY_PAGES} empty pages in a row`);
      }
      if (count === replaceAt) {
        earlier = nextCursor;
        replaceAt *= 2;
      }
      cursor = nextCursor;
    }
  }

  /** Iterates over the items. Each page is requested when the loop reaches it. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  #hasNoEnd(reason: string): never {
    const message = `${this.#request}: the listing does not end: ${reason}.`;
    throw new ServiceBotError("API_INVALID_RESPONSE", message);
  }
}

/** Reads up to `max` pages, each when the loop reaches it. The limit also ends a cycle of cursors. */
export async function* readPages<T>(read: ReadPage<T>, max: number): AsyncGenerator<Page<T>> {
  let cursor: string | undefined;
  for (let count = 0; count < max; count++) {
    const page = await read(cursor);
    yield page;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

/**
 * Returns a listing with `limit` and `cursor`, as the platform document describes them for conversations and messages.
 */
export function list<T>(
  http: Http,
  template: string,
  page: Shape<Page<T>>,
  options: PageOptions,
  { id, query }: Pick<RequestOptions, "id" | "query"> = {},
): Listing<T> {
  const { values, problems } = inspectOptions(options, PAGE_OPTIONS);
  const { limit, cursor: from, signal } = values;
  const readPage = async (cursor: string | undefined) => {
    refuseProblems(problems);
    const asked = { id, signal, query: { ...query, limit, cursor } };
    return (await http.request("GET", template, page, asked)).value;
  };
  return new Listing(readPage, from, `GET ${template}`);
}
