import { join } from "node:path";
import { chromium as launcher } from "playwright-core";
import type { TestProject } from "vitest/node";
import { buildPortal } from "../../../../scripts/pack/portal.ts";
import { root } from "../../../../scripts/root.ts";
import { chromium } from "../../../support/chromium.ts";

declare module "vitest" {
  interface ProvidedContext {
    /** Endpoint of the run's only Chromium, or the reason why Chromium is missing. */
    readonly browser: { readonly endpoint: string } | { readonly missing: string };
  }
}

/**
 * Features that Chromium must not have. Without the first two, each window loads two pages for its address bar, which
 * takes half a second. The others are Playwright's, because Chromium reads only the last list.
 */
const DISABLED_FEATURES: readonly string[] = [
  ...["WebUIOmniboxPopup", "WebUIOmniboxAimPopup"],
  "AimEnabled",
  "AvoidCorsURLLoaderRestartOnRedirect",
  "AvoidUnnecessaryBeforeUnloadCheckSync",
  "DestroyProfileOnBrowserClose",
  "HttpsFirstBalancedModeAutoEnable",
  "HttpsUpgrades",
  "LensOverlay",
  "MediaRouter",
  "NetworkTimeServiceQuerying",
  "OptimizationHints",
  "PaintHolding",
  "PreconnectToSearch",
  "TcpPortRandomizationWin",
  "ThirdPartyStoragePartitioning",
  "msEdgeUpdateLaunchServicesPreferredVersion",
  "msForceBrowserSignIn",
];

const DISABLE = "--disable-features=";

/** Builds the page as it is published, and starts one browser for all tests. Returns the teardown function. */
export default async function setup(project: TestProject): Promise<() => Promise<void>> {
  try {
    await buildPortal(join(root, "src", "platform", "portal", "static"));
    const server = await launcher.launchServer({
      executablePath: chromium(),
      args: [
        ...["--no-sandbox", "--disable-quic", "--disable-background-networking"],
        `${DISABLE}${DISABLED_FEATURES.join(",")}`,
      ],
    });
    const unlisted = unlistedFeatures(server.process().spawnargs);
    if (unlisted.length > 0) {
      await server.close();
      throw new Error(`add to DISABLED_FEATURES: ${unlisted.join(", ")}`);
    }
    project.provide("browser", { endpoint: server.wsEndpoint() });
    return () => server.close();
  } catch (error) {
    // Each test that opens a window fails with this reason. Other test projects continue.
    project.provide("browser", { missing: String(error) });
    return async () => {};
  }
}

/** Returns the features that only Playwright disables. Its next version may disable more. */
function unlistedFeatures(args: readonly string[]): readonly string[] {
  const lists = args.filter((arg) => arg.startsWith(DISABLE));
  const names = lists.flatMap((list) => list.slice(DISABLE.length).split(","));
  return names.filter((name) => !DISABLED_FEATURES.includes(name));
}
