import { statusWords } from "../../timeline/words.ts";
import { control, type Delivery } from "../api/control.ts";
import { say } from "../parts/toast.tsx";

/** Delivers something once more, and says what the bot answered. @param bot whose it is; the one that is looked at */
export async function sendAgain(what: Delivery, bot?: string): Promise<void> {
  const { deliveries } = await control.deliver(what, bot);
  for (const { status, ms, error } of deliveries) {
    const answer = statusWords(status);
    if (error === undefined) say(`Sent again: ${answer} after ${ms} ms.`);
    else say(`Sent again, and it failed: ${answer}, ${error}`, "bad");
  }
}
