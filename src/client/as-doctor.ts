import { DOCTOR_AGENT } from "../core/doctor-agent.ts";
import type { Fetch } from "./http.ts";

/** `fetch` that says who asks: the local platform tells probes of a token from what a bot does. */
export const asDoctor: Fetch = (url, init) => {
  const headers = new Headers(init.headers);
  headers.set("user-agent", DOCTOR_AGENT);
  return fetch(url, { ...init, headers });
};
