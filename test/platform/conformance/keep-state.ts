import type { TestProject } from "vitest/node";
import { control } from "./http.ts";

/** Every test begins anew on a platform in another process: what it held before comes back at the end. */
export default async function keepState(project: TestProject): Promise<() => Promise<void>> {
  const url = project.getProvidedContext().conformanceUrl;
  if (url === undefined) throw new Error("This is for a platform in another process.");
  const { id } = await control<{ id: string }>({ url }, "POST", "/snapshots", {
    name: "before the conformance suite",
  });
  return async () => {
    await control({ url }, "POST", `/snapshots/${id}/restore`);
    await control({ url }, "DELETE", `/snapshots/${id}`);
  };
}
