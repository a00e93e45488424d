// Every check, in order. Those with faults come last: they leave records behind.
import './challenges.mjs';
import './purchases.mjs';
import './reports.mjs';
import './several.mjs';
import './signed_in.mjs';
import './snippets.mjs';
import './signatures.mjs';
import './transfers.mjs';
import './repetitions.mjs';
import './webhooks.mjs';
import './mails.mjs';
import './bundles.mjs';
import './documents.mjs';
import './directories.mjs';
import './agents.mjs';
import './console.mjs';
import './wallet.mjs';
import './facilitator_faults.mjs';
import './crashes.mjs';
import { runAll } from './suite.mjs';

process.exit((await runAll()) === 0 ? 0 : 1);
