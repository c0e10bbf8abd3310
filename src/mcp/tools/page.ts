import type { Listing } from "../../client/listing.ts";
import type { Image, Page, PageOptions } from "../../client/resources.ts";
import { showWord } from "./text.ts";
import type { ToolContext, ToolResult } from "./tool.ts";

/** Characters of JSON of all items of a result: about ten thousand tokens. */
const MAX_RESULT_LENGTH = 40_000;

/** The arguments about the page. */
interface PageInput {
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

/** How a listing is shown. */
export interface Items<T> {
  /** The name of an item, one and many. */
  readonly names: readonly [string, string];
  readonly show: (item: T) => string;
  readonly images?: (item: T) => readonly Image[];
}

/**
 * Reads and describes a page. One that is too long is read again with as many items as fit, so that its cursor points
 * behind them; a single item is never cut.
 */
export async function readPage<T>(
  list: (options: PageOptions) => Listing<T>,
  { limit, cursor }: PageInput,
  { signal }: ToolContext,
  { names, show, images }: Items<T>,
): Promise<ToolResult<Page<T>>> {
  let page: Page<T> = await list({ limit, cursor, signal });
  const asked = page.items.length;
  for (let fits = fitting(page.items); fits < page.items.length; fits = fitting(page.items)) {
    const shorter: Page<T> = await list({ limit: fits, cursor, signal });
    // A platform may ignore the limit. A long result is better than a wrong one.
    if (shorter.items.length >= page.items.length) break;
    page = shorter;
  }
  // A page's undocumented fields are left out.
  const { items, nextCursor } = page;
  const lines = [
    countItems(items.length, names, asked),
    ...(fitting(items) < items.length
      ? ["It is long, because the platform gives no less at once."]
      : []),
    ...items.map(show),
    nextCursor === null
      ? "There are no more."
      : `There are more: call again with cursor ${showWord(nextCursor)}.`,
  ];
  return {
    value: { items, nextCursor },
    text: lines.join("\n"),
    ...(images && { images: items.flatMap(images) }),
  };
}

/** Returns how many of the first items fit into a result, at least one. */
export function fitting(items: readonly unknown[]): number {
  let length = 0;
  const tooMany = items.findIndex((item) => {
    length += JSON.stringify(item)?.length ?? 0;
    return length > MAX_RESULT_LENGTH;
  });
  return tooMany < 0 ? items.length : Math.max(1, tooMany);
}

/** Says how many items there are, and how many there were if some were left out. */
export function countItems(
  count: number,
  [one, many]: readonly [string, string],
  before: number,
): string {
  const cut = count < before ? `, and not ${before}: together they would have been too long` : "";
  return `${count} ${count === 1 ? one : many}${cut}.`;
}
