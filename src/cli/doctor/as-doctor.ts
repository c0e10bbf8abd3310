import type { Fetch } from "../../client/http.ts";
import { DOCTOR_AGENT } from "../../core/doctor-agent.ts";

/** `fetch` that says who asks: the local platform tells the doctor's probes from what the bot does. */
export const asDoctor: Fetch = (url, init) => {
  const headers = new Headers(init.headers);
  headers.set("user-agent", DOCTOR_AGENT);
  return fetch(url, { ...init, headers });
};
