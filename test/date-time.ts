import { FormatRegistry } from "@sinclair/typebox/type";

// Imported by whatever checks answers against their schemas: a format that nobody knows matches nothing.
FormatRegistry.Set("date-time", (text) => /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/.test(text));
