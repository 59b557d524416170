import type { ConsoleRoute } from "../visit.ts";
import { accountRoutes } from "./account.tsx";
import { accountsRoutes } from "./accounts.tsx";
import { auditRoutes } from "./audit.tsx";
import { deskRoutes } from "./desk.tsx";
import { diskRoutes } from "./disk.tsx";
import { operatorsRoutes } from "./operators.tsx";
import { templateRoutes } from "./templates.tsx";

/** Every page and form of the operator's desk. */
export const operatorRoutes: ConsoleRoute[] = [
  ...deskRoutes,
  ...accountsRoutes,
  ...accountRoutes,
  ...operatorsRoutes,
  ...templateRoutes,
  ...diskRoutes,
  ...auditRoutes,
];
