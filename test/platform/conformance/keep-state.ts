import type { TestProject } from "vitest/node";
import { control } from "./http.ts";

/** Resets a platform in another process before the tests, and restores its previous state afterwards. */
export default async function keepState(project: TestProject): Promise<() => Promise<void>> {
  const { conformanceUrl: url, conformanceControlToken: controlToken } =
    project.getProvidedContext();
  if (url === undefined || controlToken === undefined) {
    throw new Error("CONFORMANCE_URL must name a platform in another process.");
  }
  const place = { url, controlToken, fetch };
  const { id } = await control<{ id: string }>(place, "POST", "/snapshots", {
    name: "before the conformance suite",
  });
  return async () => {
    await control(place, "POST", `/snapshots/${id}/restore`);
    await control(place, "DELETE", `/snapshots/${id}`);
  };
}
