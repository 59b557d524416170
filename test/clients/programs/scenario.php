<?php

declare(strict_types=1);

require $argv[1] . '/autoload.php';

use Cardpress\{Client, ImageFailedException, NoAnswerException, RefusedException, Signing, WebhookSignatureException, Webhooks};

$given = json_decode(stream_get_contents(STDIN), true);
$pauses = [];
$sleep = static function (float $seconds) use (&$pauses): void {
    $pauses[] = $seconds;
    usleep(10_000);
};
$cards = new Client($given['url'], $given['key'], ['sleep' => $sleep]);
$order = $given['order'];
$with = static fn (array $player) => array_replace_recursive($order, ['player' => $player]);
$report = [];

$report['presets'] = array_column($cards->listPresets()['presets'], 'name');
$report['card'] = $cards->createAndWait($order, 'first');
$report['again'] = $cards->createAndWait($order, 'first')['image_id'];
$report['replayed'] = [
    $report['card']['replayed'],
    $cards->createAndWait($order, 'first')['replayed'],
    $cards->createImage($order, 'first')['replayed'],
];
$waited = $cards->createImage($order, wait: 5);
$report['waited'] = [$waited['status'], $waited['replayed']];
try {
    $cards->createAndWait($with(['external_id' => 'test_fail_several_people']));
} catch (ImageFailedException $failed) {
    $report['failed'] = [$failed->getMessage(), $failed->reason, $failed->hint];
}
try {
    $cards->createImage($with(['number' => 0]));
} catch (RefusedException $refused) {
    $report['refused'] = [$refused->status, $refused->errorCode, $refused->details[0]['field'], $refused->requestId];
}
try {
    $cards->createImage($with(['external_id' => 'test_insufficient_credits']));
} catch (RefusedException $refused) {
    $report['credits'] = $refused->credits;
}

$squad = array_map(static fn (int $n) => $with(['external_id' => "b$n"]), [0, 1, 2]);
$batch = $cards->createBatch(['name' => 'Squad', 'cards' => $squad]);
$seen = 0;
$ended = $cards->waitForBatch($batch['batch_id'], onProgress: function () use (&$seen) {
    $seen += 1;
});
$report['batch'] = $ended['completed'];
$report['seen'] = $seen > 0;
$report['zip'] = substr($cards->getBatchPictures($batch['batch_id']), 0, 2);
$report['every'] = [];
$report['current'] = array_column(iterator_to_array($cards->everyImage(['current' => true]), false), 'external_id');
foreach ($cards->everyImage(['limit' => 2, 'metadata' => ['season' => '2026']]) as $image) {
    $report['every'][] = $image['external_id'];
}
$players = [['external_id' => 'player-1', 'name' => 'Maya']];
$cards->createSet(['name' => 'Spare', 'parallels' => [['name' => 'base', 'size' => null]], 'players' => $players]);
$set = $cards->createSet(['name' => 'Season', 'parallels' => [['name' => 'gold', 'size' => 2]], 'players' => $players]);
$numbered = ['set' => ['id' => $set['set_id'], 'parallel' => 'gold']]
    + array_replace_recursive($order, ['style' => ['width' => 815, 'height' => 1110]]);
$deck = $cards->createBatch(['cards' => [$numbered]])['batch_id'];
$cards->waitForBatch($deck);
$report['set'] = $cards->getBatch($deck)['images'][0]['set'];
$report['pdf'] = substr($cards->printBatch($deck, ['sheet' => 'a4']), 0, 5);
$report['walked'] = [
    'batches' => iterator_count($cards->everyBatch(['limit' => 1])),
    'sets' => iterator_count($cards->everySet(['limit' => 1])),
    'consents' => iterator_count($cards->everyConsent()),
    'events' => iterator_count($cards->everyEvent(['limit' => 2])) > 2,
];
$report['photo'] = $cards->uploadPhoto(file_get_contents($given['photo']), filename: 'y"oga.jpg')['url'];
$report['endpoint'] = substr($cards->createWebhookEndpoint(['url' => $given['hook']])['secret'], 0, 6);
$report['usage'] = $cards->getUsage('current_month')['environment'];

$pauses = [];
$flaky = new Client($given['flaky'], $given['key'], ['sleep' => $sleep]);
$report['flaky'] = $flaky->createImage($order)['status'];
$report['pauses'] = $pauses;
try {
    $flaky->createWebhookEndpoint(['url' => $given['hook']]);
} catch (RefusedException $refused) {
    $report['once'] = $refused->errorCode;
    $report['retry_after'] = $refused->retryAfter;
}
try {
    $report['cut'] = $flaky->printImage('img_1');
} catch (NoAnswerException $nothing) {
    $report['cut'] = $nothing->getMessage();
}
try {
    (new Client($given['dead'], $given['key'], ['retries' => 1, 'sleep' => $sleep]))->listPresets();
} catch (NoAnswerException $nothing) {
    $report['dead'] = $nothing->getMessage();
}

$hook = $given['webhook'];
$report['event'] = Webhooks::read($hook['secret'], $hook['headers'], $hook['body'])['type'];
$report['forged'] = [];
foreach ([
    [$hook['headers'], str_replace('img_1', 'img_2', $hook['body'])],
    [['webhook-timestamp' => '1'] + $hook['headers'], $hook['body']],
    [[], $hook['body']],
] as [$headers, $body]) {
    try {
        Webhooks::read($hook['secret'], $headers, $body);
    } catch (WebhookSignatureException $forged) {
        $report['forged'][] = $forged->getMessage();
    }
}

$report['secrets'] = [];
foreach (['', 'whsec_', 'whsec_c2hvcnQ=', substr($hook['secret'], 6)] as $secret) {
    try {
        Webhooks::read($secret, $hook['headers'], $hook['body']);
    } catch (InvalidArgumentException $useless) {
        $report['secrets'][] = $useless->getMessage();
    }
}

try {
    $cards->redeliverEvent('evt_7Wc2Lk9VbTnX0Hq3ZrXm5dYE');
} catch (RefusedException $refused) {
    $report['redelivered'] = $refused->errorCode;
}

$signed = $given['signed'];
$own = ['baseUrl' => $given['url'], 'keyId' => $signed['keyId'], 'secret' => $signed['secret']];
$card = ['preset' => 'club_card'] + $signed['card'];
$report['address'] = Signing::cardUrl($card, ...$own, expires: $signed['exp']);
$report['dated'] = Signing::cardUrl($card, ...$own, expires: (new DateTimeImmutable())->setTimestamp($signed['exp']));
echo json_encode($report);
