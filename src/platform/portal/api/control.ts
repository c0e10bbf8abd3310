import { type RemoteControl, remoteControl } from "../../control/client.ts";
import { bot } from "../live/settings.ts";
import { send } from "./request.ts";

/**
 * Client for the control API (docs/reference/local-platform.md). Every method rejects with a ControlError. A request
 * without a bot applies to the selected bot.
 */
export const control: RemoteControl = remoteControl(send, () => bot.peek() || undefined);
