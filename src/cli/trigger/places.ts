import type { ActResult } from "../../platform/types.ts";

/** Something that may say where it happened. */
interface Place {
  readonly conversationId?: unknown;
  readonly postId?: unknown;
}

/** The conversations and posts that the events concern. */
export function placesOf({ events, conversationId, postId }: ActResult): ReadonlySet<string> {
  const places = new Set(placesIn({ conversationId, postId }));
  for (const { payload } of events) {
    const named: Readonly<Record<string, unknown>> = { ...payload };
    const { entityType, entityId } = named;
    for (const place of placesIn(named)) places.add(place);
    // The post that quotes is a place as much as the quoted one.
    if (entityType === "post")
      for (const place of placesIn({ postId: entityId })) places.add(place);
  }
  return places;
}

/** The same of one record. Ids may come from a payload of any shape. */
export function placesIn({ conversationId, postId }: Place): string[] {
  const places = [
    ["conversation", conversationId],
    ["post", postId],
  ] as const;
  return places
    .filter(([, id]) => typeof id === "string" && id !== "")
    .map((place) => place.join(" "));
}

/** A place as one bot sees it. */
export function placeAt(bot: string | undefined, place: string): string {
  return `${bot ?? ""} ${place}`;
}
