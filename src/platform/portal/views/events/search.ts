import { actOf, answerOf, type Bots, callOf, changeOf, isTrouble, outcomeOf } from "./outcomes.ts";
import type { Overview, Thing } from "./stories.ts";

export interface Filter {
  /** Words that must all match. Empty matches every row. */
  readonly text: string;
  readonly type: string;
  readonly onlyTrouble: boolean;
}

export function select(overview: Overview, { text, type, onlyTrouble }: Filter): readonly Thing[] {
  const words = text.toLowerCase().split(/\s+/).filter(Boolean);
  return overview.things.filter((thing) => {
    if (type !== "" && (thing.kind !== "event" || thing.event.type !== type)) return false;
    if (onlyTrouble && !isTrouble(thing, overview)) return false;
    if (words.length === 0) return true;
    const searched = searchedIn(thing, overview).join(" ").toLowerCase();
    return words.every((word) => searched.includes(word));
  });
}

function searchedIn(thing: Thing, bots: Bots): readonly string[] {
  if (thing.kind === "change") return [changeOf(thing)];
  if (thing.kind === "calls") return [callOf(thing), thing.call.id, answerOf(thing.call).text];
  const { event, parts } = thing;
  const { from, bot, id, type, conversationId = "", postId = "" } = event;
  const { tone, text } = outcomeOf(thing, bots);
  const found = parts.flatMap((part) => {
    if (part.kind === "delivery") return [part.id];
    return part.kind === "api" ? [part.id, part.path, ...Object.values(part.created ?? {})] : [];
  });
  const failed = tone === "bad" ? "failed" : "";
  return [
    `@${from} @${bot}`,
    id,
    type,
    actOf(event),
    text,
    failed,
    conversationId,
    postId,
    ...found,
  ];
}
