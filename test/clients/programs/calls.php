<?php

// Reads calls as the documentation writes them, and prints those whose arguments do not fit.

declare(strict_types=1);

use Cardpress\{CardpressException, Client};

require $argv[1] . '/autoload.php';

// Nobody answers there: a call gets as far as the network.
$cards = new Client('http://127.0.0.1:1', 'sk_test_x', ['retries' => 0]);
$card = $set = $consent = $changes = $headers = ['a' => 'b'];
$name = $imageId = $batchId = $setId = $externalId = $endpointId = $eventId = $seed = $url = 'x';
$squad = [$card];
$secret = 'whsec_' . base64_encode(str_repeat('x', 32));
$body = $content = $baseUrl = 'x';

$wrong = [];
foreach (json_decode(stream_get_contents(STDIN)) as $call) {
    // What stands for the rest is not written out.
    if (str_ends_with($call, ', ...)')) {
        continue;
    }
    try {
        $done = eval('use Cardpress\{Signing, Webhooks}; return ' . (preg_match('/^(\$cards->|\w+::)/', $call) ? $call : "\$cards->$call") . ';');
        if ($done instanceof Generator) {
            $done->current();
        }
    } catch (CardpressException) {
    } catch (Error $fault) {
        $wrong[] = "$call: {$fault->getMessage()}";
    }
}
echo json_encode($wrong);
