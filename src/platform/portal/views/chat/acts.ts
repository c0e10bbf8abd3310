import type { ActInput } from "../../../types.ts";
import { control } from "../../api/control.ts";
import { person } from "../../live/settings.ts";
import { say } from "../../parts/toast.tsx";

/** Lets the person act. Reports if no bot is concerned, because then there is no event. */
export async function act(input: Omit<ActInput, "from">): Promise<void> {
  const { events } = await control.act({ ...input, from: person.value });
  if (events.length === 0) say("Done. It concerns no bot, so there is no event.");
}
