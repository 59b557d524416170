/** Epoch ms by the clock of PostgreSQL, in its SQL: those of the machines that share it may differ. */
export const DATABASE_NOW = "(extract(epoch FROM clock_timestamp()) * 1000)::bigint";
