import { DOCTOR_AGENT } from "../core/doctor-agent.ts";
import type { Fetch } from "./http.ts";

/** Marks requests as a check-up. The local platform shows those apart from what a bot does. */
export function markAsDoctor(send: Fetch): Fetch {
  return (url, init) => {
    const headers = new Headers(init.headers);
    headers.set("user-agent", DOCTOR_AGENT);
    return send(url, { ...init, headers });
  };
}

/** `fetch` of the process, marked as a check-up. */
export const asDoctor: Fetch = (url, init) => markAsDoctor(fetch)(url, init);
