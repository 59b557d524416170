import type { ConsoleRoute } from "../visit.ts";
import { accountRoutes } from "./account.tsx";
import { accountsRoutes } from "./accounts.tsx";
import { auditRoutes } from "./audit.tsx";
import { diskRoutes } from "./disk.tsx";
import { operatorsRoutes } from "./operators.tsx";
import { overviewRoutes } from "./overview.tsx";
import { statusRoutes } from "./status.tsx";
import { templateRoutes } from "./templates.tsx";

/** Every page and form of the operator console. */
export const operatorRoutes: ConsoleRoute[] = [
  ...overviewRoutes,
  ...accountsRoutes,
  ...accountRoutes,
  ...operatorsRoutes,
  ...templateRoutes,
  ...diskRoutes,
  ...statusRoutes,
  ...auditRoutes,
];
