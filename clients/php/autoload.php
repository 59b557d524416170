<?php

declare(strict_types=1);

// For projects without Composer.
spl_autoload_register(static function (string $class): void {
    if (str_starts_with($class, 'Cardpress\\')) {
        require __DIR__ . '/src/' . substr($class, strlen('Cardpress\\')) . '.php';
    }
});
