import type { Listing } from "../../client/listing.ts";
import type { Image, Page, PageOptions } from "../../client/types.ts";
import { countWords, fitting } from "./size.ts";
import type { Outcome, ToolContext } from "./tool.ts";
import { word } from "./words.ts";

/** What the arguments say about the page. */
interface Asked {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

interface PageWords<T> {
  /** What the items are called, one and many. */
  readonly names: readonly [string, string];
  readonly words: (item: T) => string;
  readonly images?: (item: T) => readonly Image[];
}

/**
 * Reads a page and tells it. One that would be too long is read again with as many items as fit, so that its cursor
 * is the one that goes on behind them; a single item is never cut.
 */
export async function readPage<T>(
  listing: (options: PageOptions) => Listing<T>,
  { limit, cursor }: Asked,
  { signal }: ToolContext,
  { names, words, images }: PageWords<T>,
): Promise<Outcome<Page<T>>> {
  const read = async (most: number | undefined) => await listing({ limit: most, cursor, signal });
  let page = await read(limit);
  const asked = page.items.length;
  for (let most = fitting(page.items); most < page.items.length; most = fitting(page.items)) {
    const shorter = await read(most);
    // A platform that takes no notice of the limit: better long than wrong.
    if (shorter.items.length >= page.items.length) break;
    page = shorter;
  }
  const { items, nextCursor } = page;
  const isTooLong = fitting(items) < items.length;
  return {
    // Fields that a page has besides, nobody has documented.
    value: { items, nextCursor },
    text: [
      countWords(items.length, names, asked),
      ...(isTooLong ? ["It is long, for the platform gives no less at once."] : []),
      ...items.map(words),
      nextCursor === null
        ? "There are no more."
        : `There are more: call again with cursor ${word(nextCursor)}.`,
    ].join("\n"),
    ...(images === undefined ? {} : { images: items.flatMap(images) }),
  };
}
