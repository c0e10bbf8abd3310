import type * as z from "../core/zod.ts";
import { ServiceBotError } from "../errors.ts";
import type { Http } from "./http.ts";
import type { RequestOptions } from "./request.ts";
import type { Page, PageOptions } from "./resources.ts";

/** Empty pages in a row that are followed, because a filtered listing may have some. */
const MAX_EMPTY_PAGES = 100;

/** Reads the page at a cursor; undefined is the first. */
export type ReadPage<T> = (cursor: string | undefined) => Promise<Page<T>>;

/**
 * A listing of the platform. Awaited it is one page; iterated it is every item, page after page, as far as the loop goes.
 * Nothing is requested before that, and an impossible id or `limit` rejects then.
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

  /** @param request names the listing in errors */
  constructor(read: ReadPage<T>, from: string | undefined, request: string) {
    this.#read = read;
    this.#from = from;
    this.#request = request;
  }

  /** The first page, requested once. */
  // biome-ignore lint/suspicious/noThenProperty: a listing is awaited for its first page.
  then<R = Page<T>, E = never>(
    onPage?: ((page: Page<T>) => R | PromiseLike<R>) | null,
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<R | E> {
    this.#first ??= this.#read(this.#from);
    return this.#first.then(onPage, onError);
  }

  /** The method of a promise. */
  catch<E = never>(
    onError?: ((error: unknown) => E | PromiseLike<E>) | null,
  ): Promise<Page<T> | E> {
    return this.then(null, onError);
  }

  /** The method of a promise. */
  finally(onEnd?: (() => void) | null): Promise<Page<T>> {
    return this.then().finally(onEnd);
  }

  /**
   * Page after page, requested anew.
   *
   * @throws {ServiceBotError} API_INVALID_RESPONSE for cursors that lead in a circle, or through many empty pages
   */
  async *pages(): AsyncGenerator<Page<T>, void, undefined> {
    // Brent's method: an earlier cursor, replaced after 1, 2, 4, 8… pages, finds any circle in constant memory.
    let earlier: string | undefined;
    let replaceAt = 1;
    let empty = 0;
    for (let cursor = this.#from, count = 1; ; count++) {
      const page = await this.#read(cursor);
      yield page;
      const { items, nextCursor } = page;
      if (nextCursor === null) return;
      if (nextCursor === earlier) this.#hasNoEnd("the cursor of a page points to an earlier page");
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

  /** Item after item; the next page is requested when the loop gets there. */
  async *[Symbol.asyncIterator](): AsyncGenerator<T, void, undefined> {
    for await (const page of this.pages()) yield* page.items;
  }

  #hasNoEnd(reason: string): never {
    const message = `${this.#request}: the listing does not end: ${reason}.`;
    throw new ServiceBotError("API_INVALID_RESPONSE", message);
  }
}

/**
 * Reads page after page, up to `max` of them, each once the loop gets there. Cursors that lead in a circle do no harm.
 */
export async function* readPages<T>(read: ReadPage<T>, max: number): AsyncGenerator<Page<T>> {
  let cursor: string | undefined;
  for (let count = 0; count < max; count++) {
    const page = await read(cursor);
    yield page;
    if (page.nextCursor === null) return;
    cursor = page.nextCursor;
  }
}

/** Lists with `limit` and `cursor`, as the document shows for conversations and messages. */
export function list<T>(
  http: Http,
  template: string,
  page: z.ZodType<Page<T>>,
  { limit, cursor: from, signal }: PageOptions,
  { id, query }: Pick<RequestOptions, "id" | "query"> = {},
): Listing<T> {
  const readPage = async (cursor: string | undefined) => {
    const options = { id, signal, query: { ...query, limit, cursor } };
    return (await http.request("GET", template, page, options)).value;
  };
  return new Listing(readPage, from, `GET ${template}`);
}
