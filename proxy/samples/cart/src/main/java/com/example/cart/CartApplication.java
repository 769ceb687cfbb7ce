package com.example.cart;

import org.springframework.boot.SpringApplication;
import org.springframework.boot.autoconfigure.SpringBootApplication;
import org.springframework.cache.annotation.EnableCaching;

/** A service of shopping carts; {@code /actuator/health} tells of its datacenters. */
@SpringBootApplication
@EnableCaching
public class CartApplication {
  /** Runs it. */
  public static void main(String[] args) {
    SpringApplication.run(CartApplication.class, args);
  }
}
